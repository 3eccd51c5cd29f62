package dev.flotilla.strategy.compress;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.IntToDoubleFunction;

/** Arenas of one rank in plain memory, with some stretches that are compressed. */
final class Playground implements AutoCloseable {

  private static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT;

  private final Arena memory = Arena.ofConfined();
  private final int length;
  private final MemorySegment gradient;
  private final MemorySegment velocity;
  private final MemorySegment residual;
  private final MemorySegment weight;

  Playground(int length) {
    this.length = length;
    gradient = memory.allocate(4L * length, 64);
    velocity = memory.allocate(4L * length, 64);
    residual = memory.allocate(4L * length, 64);
    weight = memory.allocate(4L * length, 64);
  }

  /** Returns two stretches with a gap between them, which together make up most of the memory. */
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

  /** Fills the stretches with normal deviates of a size. */
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
    memory.close();
  }
}
