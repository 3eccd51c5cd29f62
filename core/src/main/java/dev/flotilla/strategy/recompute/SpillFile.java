package dev.flotilla.strategy.recompute;

import dev.flotilla.memory.ComputeDevice;
import dev.flotilla.memory.NativeView;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.memory.Tensors;
import dev.flotilla.model.Activations;
import dev.flotilla.model.Shape;
import dev.flotilla.pass.SavedTensorStore;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;
import org.jspecify.annotations.Nullable;

/**
 * Lets activations wait in a mapped file, which the system may write out when memory gets short.
 *
 * <p>Takes what is on top off first, as backward asks for it; a page that will be needed soon is
 * touched ahead by another thread. The file has no name from the start, so that nothing is left
 * behind however the process ends.
 */
final class SpillFile implements SavedTensorStore {

  private static final long STEP = 64L << 20;

  private @Nullable FileChannel channel;
  private @Nullable MemorySegment memory;
  private long used;

  @Override
  public Stored store(Activations activations) {
    List<Slot> slots = new ArrayList<>();
    for (var tensor : activations.tensors()) {
      slots.add(write(tensor));
    }
    return new Waiting(slots);
  }

  private Slot write(Tensor tensor) {
    var type = tensor.scalar_type().intern();
    var device = ComputeDevice.of(tensor);
    if (!tensor.is_contiguous()) {
      // Another order in memory could mean another order of sums in recomputation: it stays.
      return new Slot(used, 0, type, tensor.shape(), device, TensorScope.keep(new Tensor(tensor)));
    }
    try (var _ = TensorScope.open()) {
      var source = NativeView.of(ComputeDevice.CPU.bring(tensor));
      var slot = new Slot(used, source.byteSize(), type, tensor.shape(), device, null);
      reserve(used + source.byteSize());
      MemorySegment.copy(source, 0, mapped(), used, source.byteSize());
      used += source.byteSize();
      return slot;
    }
  }

  private MemorySegment mapped() {
    return Objects.requireNonNull(memory);
  }

  private void reserve(long bytes) {
    if (memory != null && memory.byteSize() >= bytes) {
      return;
    }
    long size = (bytes + STEP - 1) / STEP * STEP;
    try {
      if (channel == null) {
        channel = open();
      }
      // The former mapping is left to the collector: it holds no memory of its own.
      memory = channel.map(FileChannel.MapMode.READ_WRITE, 0, size, Arena.ofAuto());
    } catch (IOException e) {
      throw new UncheckedIOException(
          "recompute.offload: cannot make a file of %d bytes in %s: %s"
              .formatted(size, System.getProperty("java.io.tmpdir"), e.getMessage()),
          e);
    }
  }

  private static FileChannel open() throws IOException {
    var owner = PosixFilePermissions.fromString("rw-------");
    Path file =
        Files.createTempFile(
            "flotilla-activations", "", PosixFilePermissions.asFileAttribute(owner));
    var open = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE);
    Files.delete(file);
    return open;
  }

  /** Where a tensor waits; or the tensor itself. */
  private record Slot(
      long offset,
      long bytes,
      torch.ScalarType type,
      Shape shape,
      ComputeDevice device,
      @Nullable Tensor inPlace) {
    Slot(
        long offset,
        long bytes,
        torch.ScalarType type,
        long[] shape,
        ComputeDevice device,
        @Nullable Tensor inPlace) {
      this(offset, bytes, type, Shape.of(shape), device, inPlace);
    }

    Tensor fetch(MemorySegment file) {
      if (inPlace != null) {
        return TensorScope.adopt(inPlace);
      }
      var tensor = Tensors.empty(type, shape.toArray());
      MemorySegment.copy(file, offset, NativeView.of(tensor), 0, bytes);
      return device.bring(tensor);
    }
  }

  private final class Waiting implements Stored {

    private final List<Slot> slots;
    private @Nullable CompletableFuture<Void> touched;

    Waiting(List<Slot> slots) {
      this.slots = slots;
    }

    @Override
    public void prepare() {
      var region = mapped();
      touched =
          CompletableFuture.runAsync(
              () -> slots.forEach(slot -> region.asSlice(slot.offset(), slot.bytes()).load()));
    }

    @Override
    public Activations fetch() {
      if (touched != null) {
        touched.join();
      }
      List<Tensor> tensors = new ArrayList<>();
      for (var slot : slots) {
        tensors.add(slot.fetch(mapped()));
      }
      used = slots.isEmpty() ? used : slots.getFirst().offset();
      return new Activations(tensors);
    }

    @Override
    public void drop() {
      if (touched != null) {
        touched.join();
      }
      slots.forEach(slot -> TensorScope.free(slot.inPlace()));
      used = slots.isEmpty() ? used : Math.min(used, slots.getFirst().offset());
    }
  }
}
