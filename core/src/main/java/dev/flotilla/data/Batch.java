package dev.flotilla.data;

import java.util.List;
import org.bytedeco.pytorch.Tensor;

/**
 * Samples that go through the model together.
 *
 * <p>The tensors belong to the scope in which the batch was loaded.
 *
 * @param inputs what the first segment takes
 * @param targets what the loss compares with
 * @param samples number of samples; 0 when this rank has none in a ragged last batch
 */
public record Batch(List<Tensor> inputs, Tensor targets, int samples) {

  /** Tells whether this rank has no sample in this step and takes part with zeros. */
  public boolean isEmpty() {
    return samples == 0;
  }
}
