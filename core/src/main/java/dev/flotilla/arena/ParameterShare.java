package dev.flotilla.arena;

import dev.flotilla.arena.Bucket.Range;
import dev.flotilla.memory.ComputeDevice;
import dev.flotilla.memory.StateMemory;
import java.util.List;
import java.util.function.Function;

/**
 * What a rank keeps of the parameters where the rest is gathered when it is needed.
 *
 * @param ranges parts of the arena, in its order, none of which reaches from one segment into the
 *     next
 * @param memory opens the memory that they are kept in
 */
public record ParameterShare(List<Range> ranges, Function<ComputeDevice, StateMemory> memory) {

  /** Copies the list. */
  public ParameterShare {
    ranges = List.copyOf(ranges);
  }
}
