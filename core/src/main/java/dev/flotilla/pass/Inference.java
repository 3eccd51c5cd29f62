package dev.flotilla.pass;

import dev.flotilla.data.Batch;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.model.Activations;
import org.bytedeco.pytorch.NoGradGuard;

/**
 * Runs a model forward as evaluation does, and keeps no graph. Any number of threads may do so at
 * once, as long as nobody changes the model.
 */
public final class Inference implements AutoCloseable {

  private final PartRunner parts;

  /** Creates the forward pass of a model, which stays the caller's. */
  public Inference(BoundModel model) {
    parts = new PartRunner(model, 0, 0);
  }

  /**
   * Returns the outputs of a batch, in the caller's scope.
   *
   * @throws ModelException if the model cannot take the batch
   */
  public Activations run(Batch batch) {
    try (var _ = new NoGradGuard();
        var scope = TensorScope.open()) {
      var outputs = parts.evaluate(batch);
      outputs.tensors().forEach(scope::handOut);
      return outputs;
    }
  }

  @Override
  public void close() {
    parts.close();
  }
}
