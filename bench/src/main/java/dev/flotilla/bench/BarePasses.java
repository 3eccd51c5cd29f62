package dev.flotilla.bench;

import dev.flotilla.data.Batch;
import dev.flotilla.memory.Precision;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.model.Activations;
import dev.flotilla.model.ForwardMode;
import dev.flotilla.model.Model;
import dev.flotilla.pass.BoundModel;
import org.bytedeco.javacpp.PointerScope;
import org.bytedeco.pytorch.SGD;
import org.bytedeco.pytorch.SGDOptions;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.TensorVector;

/** A model's passes and nothing else: its parts, its loss, backward, and libtorch's C++ SGD. */
final class BarePasses implements AutoCloseable {

  private final BoundModel model;
  private final SGD optimizer;

  /**
   * Creates the model.
   *
   * @param terms loss terms of an update: the loss is a sum, and a model that diverges would be
   *     quicker, since its maxima are easy to predict
   */
  BarePasses(Model described, int terms) {
    model = new BoundModel(described, Precision.FLOAT32, 42, _ -> false);
    var options = new SGDOptions(0.01 / terms);
    options.momentum().put(0.9);
    var parameters = model.arena().parameters().values().toArray(Tensor[]::new);
    optimizer = new SGD(new TensorVector(parameters), options);
  }

  void clear() {
    optimizer.zero_grad();
  }

  void forwardBackward(Batch batch) {
    try (var _ = TensorScope.open()) {
      var value = new Activations(batch.inputs());
      for (var place : model.parts()) {
        value = place.part().forward().apply(value, ForwardMode.TRAIN);
      }
      model.objective().loss(value, batch).sum().backward();
    }
  }

  void update() {
    try (var _ = new PointerScope()) {
      optimizer.step();
    }
  }

  @Override
  public void close() {
    optimizer.close();
    model.close();
  }
}
