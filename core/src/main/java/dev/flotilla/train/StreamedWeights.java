package dev.flotilla.train;

import dev.flotilla.checkpoint.WeightSource;
import dev.flotilla.pass.BoundModel;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.bytedeco.pytorch.Tensor;

/**
 * All weights of a model, of which those that ranks hold in slices are gathered section by section;
 * all ranks bring the same ones in the same order.
 */
final class StreamedWeights implements WeightSource, AutoCloseable {

  private final BoundModel model;
  private final Set<String> brought = new HashSet<>();

  StreamedWeights(BoundModel model) {
    this.model = model;
  }

  @Override
  public Map<String, Tensor> tensors() {
    return model.stateInSections();
  }

  /** One that has been there before does not come again, on any rank. */
  @Override
  public void bring(String name) {
    if (brought.add(name)) {
      model.bring(name);
    }
  }

  @Override
  public void close() {
    model.gate().leaveSection();
  }
}
