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

  /** Written through an array: element by element takes ten times as long until it is compiled. */
  private static final int PIECE = 1 << 13;

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
    var initializer = spec.initializer();
    long elements = spec.shape().elements();
    var values = new double[(int) Math.min(elements, PIECE)];
    for (long from = 0; from < elements; from += PIECE) {
      int length = (int) Math.min(PIECE, elements - from);
      for (int i = 0; i < length; i++) {
        values[i] = initializer.at(from + i, random);
      }
      copy(values, length, memory, from);
    }
  }

  private void copy(double[] values, int length, MemorySegment memory, long at) {
    if (precision == Precision.FLOAT64) {
      var type = ValueLayout.JAVA_DOUBLE;
      MemorySegment.copy(values, 0, memory, type, at * type.byteSize(), length);
      return;
    }
    var floats = new float[length];
    for (int i = 0; i < length; i++) {
      floats[i] = (float) values[i];
    }
    var type = ValueLayout.JAVA_FLOAT;
    MemorySegment.copy(floats, 0, memory, type, at * type.byteSize(), length);
  }
}
