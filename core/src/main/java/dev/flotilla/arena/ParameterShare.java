package dev.flotilla.arena;

import dev.flotilla.arena.Bucket.Range;
import dev.flotilla.memory.ComputeDevice;
import dev.flotilla.memory.StateMemory;
import java.util.List;
import java.util.function.Function;
import org.bytedeco.pytorch.global.torch;

/**
 * What a rank keeps of the parameters where the rest is gathered when it is needed.
 *
 * @param ranges parts of the arena, in its order, none of which reaches from one segment into the
 *     next
 * @param memory opens the memory that they are kept in
 * @param computed the type of what is gathered for passes: the layout's own, or one of 16 bits,
 *     whose numbers are then rounded from what is kept
 * @param addsWholeGradients whether each rank adds up the gradients of all parameters
 */
public record ParameterShare(
    List<Range> ranges,
    Function<ComputeDevice, StateMemory> memory,
    torch.ScalarType computed,
    boolean addsWholeGradients) {

  /** Copies the list. */
  public ParameterShare {
    ranges = List.copyOf(ranges);
  }
}
