package dev.flotilla.zoo.model;

import dev.flotilla.model.BufferSpec;
import dev.flotilla.model.ForwardMode;
import dev.flotilla.model.ParameterSpec;
import dev.flotilla.model.Weights;
import java.util.List;
import org.bytedeco.pytorch.Tensor;

/** A part of a segment that maps one tensor to one tensor. */
interface Layer {

  /** Returns the parameters in the order of the reference model. */
  List<ParameterSpec> parameters();

  /** Returns the buffers in the order of the reference model. */
  default List<BufferSpec> buffers() {
    return List.of();
  }

  /** Fetches the handles it needs, once. */
  Bound bind(Weights weights);

  /** A layer with its weights. */
  @FunctionalInterface
  interface Bound {
    Tensor apply(Tensor input, ForwardMode mode);
  }

  /** Returns a layer without parameters. */
  static Layer of(Bound function) {
    return new Plain(function);
  }

  /** A function as a layer. */
  record Plain(Bound function) implements Layer {

    @Override
    public List<ParameterSpec> parameters() {
      return List.of();
    }

    @Override
    public Bound bind(Weights weights) {
      return function;
    }
  }
}
