package dev.flotilla.checkpoint;

import dev.flotilla.memory.ComputeDevice;
import dev.flotilla.memory.TensorScope;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.bytedeco.pytorch.Tensor;

/**
 * An open safetensors file whose header has been checked in full.
 *
 * <p>The file is mapped, so that opening it takes memory for its header alone. It must not be
 * changed while it is open. It belongs to the thread that opened it.
 */
public final class SafetensorsFile implements AutoCloseable {

  private final Path file;
  private final SafetensorsHeader header;
  private final Map<String, TensorInfo> byName;
  private final Arena arena;
  private final MemorySegment data;

  private SafetensorsFile(Path file, SafetensorsHeader header, Arena arena, MemorySegment data) {
    this.file = file;
    this.header = header;
    this.arena = arena;
    this.data = data;
    this.byName = HashMap.newHashMap(header.tensors().size());
    header.tensors().forEach(tensor -> byName.put(tensor.name(), tensor));
  }

  /**
   * Opens a file and checks its header.
   *
   * @throws CheckpointException if it cannot be read or is malformed in any way
   */
  public static SafetensorsFile open(Path file) {
    if (Files.exists(file) && !Files.isRegularFile(file)) {
      throw CheckpointException.malformed(file, "it is not a regular file");
    }
    try (var channel = FileChannel.open(file, StandardOpenOption.READ)) {
      return map(file, SafetensorsHeader.read(file, channel), channel);
    } catch (IOException e) {
      throw CheckpointException.of("cannot read", file, e);
    }
  }

  private static SafetensorsFile map(Path file, SafetensorsHeader header, FileChannel channel)
      throws IOException {
    var arena = Arena.ofConfined();
    try {
      var data =
          channel.map(FileChannel.MapMode.READ_ONLY, header.dataStart(), header.dataBytes(), arena);
      return new SafetensorsFile(file, header, arena, data);
    } catch (IOException | RuntimeException e) {
      arena.close();
      throw e;
    }
  }

  /** Returns all tensors in the order of their bytes. */
  public List<TensorInfo> tensors() {
    return header.tensors();
  }

  /** Tells whether there is a tensor of this name. */
  public boolean contains(String name) {
    return byName.containsKey(name);
  }

  /**
   * Returns the tensor of a name.
   *
   * @throws CheckpointException if there is none
   */
  public TensorInfo info(String name) {
    var info = byName.get(name);
    if (info == null) {
      throw new CheckpointException(
          "%s holds no tensor %s among its %d"
              .formatted(file, TensorName.quote(name), byName.size()));
    }
    return info;
  }

  /** Returns the texts that were stored beside the tensors. */
  public Map<String, String> metadata() {
    return Map.copyOf(header.metadata());
  }

  /**
   * Copies a tensor into a dense tensor of the same type and shape.
   *
   * @throws CheckpointException if there is no such tensor, or type or shape differ; the target is
   *     then unchanged
   */
  public void copyInto(String name, Tensor target) {
    if (!target.is_cuda()) {
      copyIntoHost(name, target);
      return;
    }
    try (var _ = TensorScope.open()) {
      var host = ComputeDevice.CPU.bring(target);
      copyIntoHost(name, host);
      target.copy_(host);
    }
  }

  private void copyIntoHost(String name, Tensor target) {
    var info = info(name);
    var live = LiveTensor.of(name, target);
    if (!info.matches(live.type(), live.shape())) {
      throw new CheckpointException(
          "tensor %s is %s in %s, but %s in the model"
              .formatted(
                  TensorName.quote(name),
                  info,
                  file,
                  TensorInfo.describe(live.type(), live.shape())));
    }
    copy(info, info.begin(), live);
  }

  /**
   * Copies consecutive elements of a tensor into a dense one, as many as that has.
   *
   * @param first number of the first one
   * @throws CheckpointException if the type differs; the target is then unchanged
   */
  void copyRange(TensorInfo info, long first, Tensor target) {
    try (var _ = TensorScope.open()) {
      var host = ComputeDevice.CPU.bring(target);
      var live = LiveTensor.of(info.name(), host);
      if (live.type() != info.type()) {
        throw new CheckpointException(
            "tensor %s is %s in %s, but %s in the model"
                .formatted(TensorName.quote(info.name()), info.type(), file, live.type()));
      }
      copy(info, beginOf(info, first), live);
      if (target.is_cuda()) {
        target.copy_(host);
      }
    }
  }

  /** Returns where an element lies, counted from the start of the file's data. */
  private static long beginOf(TensorInfo info, long element) {
    return info.begin() + element * info.type().bytes();
  }

  /** Returns where an element lies, counted from the start of the file. */
  long positionOf(TensorInfo info, long element) {
    return header.dataStart() + beginOf(info, element);
  }

  private void copy(TensorInfo info, long begin, LiveTensor live) {
    try {
      var source = data.asSlice(begin, live.memory().byteSize());
      if (info.type() == TensorType.BOOL) {
        requireBooleans(info, begin, source);
      }
      live.memory().copyFrom(source);
    } catch (InternalError e) {
      // What a read would report as an error is a fault of mapped memory.
      var cause = new IOException("the disk failed, or the file was cut while it was open", e);
      throw CheckpointException.of("cannot read", file, cause);
    }
  }

  /** Native code may do anything with a boolean that is neither 0 nor 1. */
  private void requireBooleans(TensorInfo info, long begin, MemorySegment source) {
    for (long i = 0; i < source.byteSize(); i++) {
      byte value = source.get(ValueLayout.JAVA_BYTE, i);
      if (value != 0 && value != 1) {
        throw CheckpointException.malformed(
            file,
            "tensor %s is BOOL, but its byte %d at byte %d of the file is %d"
                .formatted(
                    TensorName.quote(info.name()),
                    begin - info.begin() + i,
                    header.dataStart() + begin + i,
                    Byte.toUnsignedInt(value)));
      }
    }
  }

  /** Unmaps the file. */
  @Override
  public void close() {
    arena.close();
  }
}
