package dev.flotilla.strategy.compress;

import dev.flotilla.memory.NativeView;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.memory.Tensors;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.IntToDoubleFunction;
import java.util.stream.LongStream;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;

/** Arenas of one rank, with some slices that are compressed. */
final class Playground implements AutoCloseable {

  private static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT;

  private final int length;
  private final List<Tensor> tensors = new ArrayList<>();
  private final MemorySegment gradient;
  private final MemorySegment velocity;
  private final MemorySegment residual;
  private final MemorySegment weight;

  Playground(int length) {
    this.length = length;
    gradient = arena();
    velocity = arena();
    residual = arena();
    weight = arena();
  }

  private MemorySegment arena() {
    try (var _ = TensorScope.open()) {
      tensors.add(TensorScope.keep(Tensors.zeros(torch.ScalarType.Float, length)));
      return NativeView.of(tensors.getLast());
    }
  }

  /** Returns the same slices as a device takes them; main memory stands for one here. */
  DeviceField deviceField(double decay) {
    try (var _ = TensorScope.open()) {
      List<ArenaSlice> decays = new ArrayList<>();
      for (var field : fields(0)) {
        decays.add(new ArenaSlice(field.start(), field.length(), decay));
      }
      var gap = LongStream.range(decays.get(0).end(), decays.get(1).offset()).toArray();
      return new DeviceField(
          0, view(0), view(1), view(2), view(3), decays, TensorScope.keep(Tensors.ofLongs(gap)));
    }
  }

  private Tensor view(int arena) {
    return TensorScope.keep(tensors.get(arena).narrow(0, 0, length));
  }

  /** Returns two slices with a gap between them, which together make up most of the memory. */
  List<Field> fields(float decay) {
    int half = length / 2;
    List<Field> fields = new ArrayList<>();
    fields.add(field(0, half - 10, decay));
    fields.add(field(half + 10, length - half - 10, decay));
    return fields;
  }

  private Field field(int start, int count, float decay) {
    return new Field(
        start,
        decay,
        part(gradient, start, count),
        part(velocity, start, count),
        part(residual, start, count),
        part(weight, start, count));
  }

  private static MemorySegment part(MemorySegment whole, int start, int count) {
    return whole.asSlice(4L * start, 4L * count);
  }

  static void fill(MemorySegment target, IntToDoubleFunction value) {
    for (int i = 0; i < target.byteSize() / 4; i++) {
      target.setAtIndex(FLOAT, i, (float) value.applyAsDouble(i));
    }
  }

  static float[] copy(MemorySegment source) {
    return source.toArray(FLOAT);
  }

  /** Fills the slices with normal deviates of a size. */
  static void randomize(List<MemorySegment> targets, long seed, double size) {
    var random = new SplittableRandom(seed);
    targets.forEach(target -> fill(target, _ -> random.nextGaussian() * size));
  }

  MemorySegment gradient() {
    return gradient;
  }

  MemorySegment velocity() {
    return velocity;
  }

  MemorySegment residual() {
    return residual;
  }

  MemorySegment weight() {
    return weight;
  }

  @Override
  public void close() {
    tensors.forEach(TensorScope::free);
  }
}
