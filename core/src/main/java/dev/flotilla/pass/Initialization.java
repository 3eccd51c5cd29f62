package dev.flotilla.pass;

import dev.flotilla.memory.NativeView;
import dev.flotilla.memory.Precision;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.memory.Tensors;
import dev.flotilla.model.Initializer;
import dev.flotilla.model.ParameterSpec;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.function.Function;
import org.bytedeco.pytorch.Tensor;

/**
 * Initializes parameters. Each parameter draws from the seed and its own name alone, so that
 * several threads can write them in any order.
 */
record Initialization(Precision precision, long seed) {

  void writeInto(List<ParameterSpec> parameters, Function<String, Tensor> place) {
    try (var _ = TensorScope.open()) {
      var places = parameters.stream().map(spec -> hostFor(place.apply(spec.name()))).toList();
      var memory = places.stream().map(NativeView::of).toList();
      java.util.stream.IntStream.range(0, parameters.size())
          .parallel()
          .forEach(i -> write(parameters.get(i), memory.get(i)));
      for (int i = 0; i < parameters.size(); i++) {
        var target = place.apply(parameters.get(i).name());
        if (target.is_cuda()) {
          target.detach().copy_(places.get(i));
        }
      }
    }
  }

  /** Returns the parameter's own memory, or memory of the host for one on a device. */
  private Tensor hostFor(Tensor parameter) {
    return parameter.is_cuda()
        ? Tensors.empty(precision.scalarType(), parameter.shape())
        : parameter.detach();
  }

  private void write(ParameterSpec spec, MemorySegment memory) {
    var random = Initializer.randomFor(seed, spec.name());
    for (long i = 0; i < spec.shape().elements(); i++) {
      double value = spec.initializer().at(i, random);
      if (precision == Precision.FLOAT32) {
        memory.setAtIndex(ValueLayout.JAVA_FLOAT, i, (float) value);
      } else {
        memory.setAtIndex(ValueLayout.JAVA_DOUBLE, i, value);
      }
    }
  }
}
