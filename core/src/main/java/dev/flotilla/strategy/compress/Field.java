package dev.flotilla.strategy.compress;

import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.nio.IntBuffer;

/**
 * A compressed slice of a bucket in memory.
 *
 * <p>Buffers, not segments: they are quick also before the optimising compiler has seen a loop.
 *
 * @param start its first element, counted from the start of the bucket
 * @param length number of elements
 * @param decay this rank's part λ / N of the decay
 * @param gradient the gradient g
 * @param velocity the velocity u
 * @param residual the residual v
 * @param residualBits the same memory as {@code residual}, as bit patterns
 * @param weight the parameter w
 */
record Field(
    int start,
    int length,
    float decay,
    FloatBuffer gradient,
    FloatBuffer velocity,
    FloatBuffer residual,
    IntBuffer residualBits,
    FloatBuffer weight) {

  /** Takes a slice of four arenas. */
  Field(
      int start,
      float decay,
      MemorySegment gradient,
      MemorySegment velocity,
      MemorySegment residual,
      MemorySegment weight) {
    this(
        start,
        Math.toIntExact(residual.byteSize() / Float.BYTES),
        decay,
        floats(gradient),
        floats(velocity),
        floats(residual),
        residual.asByteBuffer().order(ByteOrder.nativeOrder()).asIntBuffer(),
        floats(weight));
  }

  private static FloatBuffer floats(MemorySegment segment) {
    return segment.asByteBuffer().order(ByteOrder.nativeOrder()).asFloatBuffer();
  }

  /** Returns the size of a residual as a key. */
  int key(int at) {
    return residualBits.get(at) & TopKeys.WITHOUT_SIGN;
  }

  boolean holds(int index) {
    return index < start + length;
  }
}
