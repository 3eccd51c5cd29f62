package dev.flotilla.arena;

import dev.flotilla.memory.Precision;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** A tail in main memory. */
record HostTail(MemorySegment memory, Precision precision) implements Tail {

  @Override
  public void set(int index, double value) {
    if (precision == Precision.FLOAT64) {
      memory.setAtIndex(ValueLayout.JAVA_DOUBLE, index, value);
    } else {
      memory.setAtIndex(ValueLayout.JAVA_FLOAT, index, (float) value);
    }
  }

  @Override
  public double get(int index) {
    return precision == Precision.FLOAT64
        ? memory.getAtIndex(ValueLayout.JAVA_DOUBLE, index)
        : memory.getAtIndex(ValueLayout.JAVA_FLOAT, index);
  }
}
