package dev.flotilla.arena;

import dev.flotilla.arena.Bucket.Range;
import dev.flotilla.memory.ComputeDevice;
import dev.flotilla.memory.TensorScope;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;

/**
 * A part of a parameter arena with memory of its own, which can be freed and filled again while
 * graphs hold views of it.
 *
 * <p>Views keep their shape and place while the memory is gone. Whoever uses one then reads freed
 * memory, so it must be there again before a pass needs it.
 */
public final class Section implements AutoCloseable {

  private final Range range;
  private final Tensor flat;
  // The same memory under a version counter of its own: a graph would take refilling for a change.
  private final Tensor unnoticed;
  private boolean isPresent = true;

  Section(Range range, torch.ScalarType type, ComputeDevice device) {
    this.range = range;
    try (var _ = TensorScope.open()) {
      flat = TensorScope.keep(device.zeros(type, range.length()));
      unnoticed = TensorScope.keep(flat.variable_data());
    }
  }

  /** Returns where it lies in the arena. */
  public Range range() {
    return range;
  }

  Tensor flat() {
    return flat;
  }

  /** Returns its elements, to read and to fill; no graph notices. */
  public Tensor values() {
    if (!isPresent) {
      throw new IllegalStateException("the memory of " + range + " has been freed");
    }
    return unnoticed;
  }

  /** Tells whether its memory is there. */
  public boolean isPresent() {
    return isPresent;
  }

  /** Gets memory, with undefined contents; nothing if it has any. */
  public void allocate() {
    if (!isPresent) {
      // Only a change of size allocates.
      try (var _ = TensorScope.open()) {
        unnoticed.resize_(0);
        unnoticed.resize_(range.length());
      }
      isPresent = true;
    }
  }

  /** Gives the memory back; nothing if it has none. */
  public void free() {
    if (isPresent) {
      try (var _ = TensorScope.open()) {
        flat.storage().reset_legacy();
      }
      isPresent = false;
    }
  }

  @Override
  public void close() {
    TensorScope.free(unnoticed);
    TensorScope.free(flat);
  }
}
