package dev.flotilla.strategy.recompute;

import dev.flotilla.memory.ComputeDevice;
import dev.flotilla.memory.DeviceMark;
import dev.flotilla.memory.HostCopies;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.model.Activations;
import dev.flotilla.pass.SavedTensorStore;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;
import org.jspecify.annotations.Nullable;

/**
 * Lets activations of a GPU wait in pinned main memory, with copies that run beside the kernels.
 *
 * <p>A copy may take a little longer than a span, so three of four are made, and the GPU's memory
 * is free again two spans later: by then the copy is done, and nothing waits for it. What backward
 * asks for earlier has never left.
 */
final class PinnedStore implements SavedTensorStore {

  /** What is smaller is not worth a copy. */
  private static final long SMALLEST = 1L << 16;

  /** Of so many in a row the last one stays. */
  private static final int STAYS_EACH = 4;

  private static final int SPANS_OF_A_COPY = 2;

  private final ComputeDevice device;
  private final HostCopies copies;
  private final List<Tensor> blocks = new ArrayList<>();
  private final Deque<Waiting> leaving = new ArrayDeque<>();

  /** How many wait. */
  private int depth;

  PinnedStore(ComputeDevice device) {
    this.device = device;
    this.copies = new HostCopies(device);
  }

  @Override
  public Stored store(Activations activations) {
    while (!leaving.isEmpty() && leaving.getFirst().number <= depth - SPANS_OF_A_COPY) {
      leaving.removeFirst().slots.forEach(Slot::isAway);
    }
    var waiting = new Waiting(depth);
    boolean moves = depth % STAYS_EACH != STAYS_EACH - 1;
    // The caller's scope would hold the handles as long as the step takes.
    try (var _ = TensorScope.open()) {
      for (var tensor : activations.tensors()) {
        boolean isWorth = tensor.numel() * tensor.element_size() >= SMALLEST;
        // Another order in memory could mean another order of sums in recomputation: it stays.
        boolean isMoved = moves && isWorth && tensor.is_cuda() && tensor.is_contiguous();
        waiting.slots.add(isMoved ? new Moved(tensor) : new InPlace(tensor));
      }
    }
    leaving.addLast(waiting);
    depth++;
    return waiting;
  }

  private Tensor block(long bytes) {
    var free =
        blocks.stream()
            .filter(it -> it.numel() >= bytes)
            .min(Comparator.comparingLong(Tensor::numel));
    free.ifPresent(blocks::remove);
    return free.orElseGet(() -> newBlock(bytes));
  }

  /** One that is too small makes room, or batches that grow would add up. */
  private Tensor newBlock(long bytes) {
    if (!blocks.isEmpty()) {
      copies.await();
      TensorScope.free(blocks.removeLast());
    }
    try {
      return copies.block(bytes);
    } catch (RuntimeException failure) {
      throw new IllegalStateException(
          ("recompute.offload: cannot have %d bytes of pinned main memory besides what is there:"
               + " %s; give the process more, take a smaller batch, or leave recompute.offload out")
              .formatted(bytes, failure.getMessage()),
          failure);
    }
  }

  /** Where one tensor is. */
  private interface Slot {

    /** Says that a copy has had its time. */
    default void isAway() {}

    default void prepare() {}

    /** Returns the tensor, kept. */
    Tensor fetch();

    void drop();
  }

  private record InPlace(Tensor tensor) implements Slot {

    InPlace {
      tensor = TensorScope.keep(new Tensor(tensor));
    }

    @Override
    public Tensor fetch() {
      return tensor;
    }

    @Override
    public void drop() {
      TensorScope.free(tensor);
    }
  }

  /** On the device until the copy is done, in main memory alone, or on the way back. */
  private final class Moved implements Slot {

    private final torch.ScalarType type;
    private final long[] shape;
    private final Tensor block;
    private @Nullable Tensor onDevice;
    private DeviceMark copied;

    Moved(Tensor tensor) {
      type = tensor.scalar_type().intern();
      shape = tensor.shape();
      block = block(tensor.numel() * tensor.element_size());
      onDevice = TensorScope.keep(new Tensor(tensor));
      copied = copies.away(tensor, block);
    }

    @Override
    public void isAway() {
      settle();
      TensorScope.free(onDevice);
      onDevice = null;
    }

    /** Lets the device wait for the copy before it goes on. */
    private void settle() {
      copied.holdBack();
      copied.close();
    }

    @Override
    public void prepare() {
      onDevice();
    }

    private Tensor onDevice() {
      var there = onDevice;
      if (there == null) {
        try (var _ = TensorScope.open()) {
          there = TensorScope.keep(device.empty(type, shape));
        }
        onDevice = there;
        copied = copies.back(block, there);
      }
      return there;
    }

    @Override
    public Tensor fetch() {
      var there = onDevice();
      settle();
      blocks.add(block);
      return there;
    }

    @Override
    public void drop() {
      if (onDevice != null) {
        isAway();
      }
      blocks.add(block);
    }
  }

  private final class Waiting implements Stored {

    private final List<Slot> slots = new ArrayList<>();
    private final int number;

    Waiting(int number) {
      this.number = number;
    }

    @Override
    public void prepare() {
      slots.forEach(Slot::prepare);
    }

    @Override
    public Activations fetch() {
      end();
      return new Activations(slots.stream().map(slot -> TensorScope.adopt(slot.fetch())).toList());
    }

    @Override
    public void drop() {
      end();
      slots.forEach(Slot::drop);
    }

    private void end() {
      leaving.remove(this);
      depth--;
    }
  }

  @Override
  public void close() {
    copies.close();
    blocks.forEach(TensorScope::free);
    blocks.clear();
  }
}
