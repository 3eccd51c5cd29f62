package dev.flotilla.checkpoint;

import dev.flotilla.pickle.Pickled;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A tensor as a pickle describes it: a view of a storage.
 *
 * @param type of its elements
 * @param storage key of the storage
 * @param offset first element in the storage
 * @param shape extents
 * @param strides elements between neighbours along each axis
 */
@SuppressWarnings("ArrayRecordComponent") // Never compared; made and read in this package only.
record PthTensor(TensorType type, String storage, long offset, long[] shape, long[] strides) {

  static final String REBUILD = "torch._utils._rebuild_tensor_v2";
  static final String PARAMETER = "torch._utils._rebuild_parameter";
  private static final int CHUNK = 1 << 20;
  private static final int MOST_AXES = 16;

  private static final Map<String, TensorType> TYPES =
      Map.of(
          "torch.DoubleStorage", TensorType.F64,
          "torch.FloatStorage", TensorType.F32,
          "torch.HalfStorage", TensorType.F16,
          "torch.BFloat16Storage", TensorType.BF16,
          "torch.LongStorage", TensorType.I64,
          "torch.IntStorage", TensorType.I32,
          "torch.ShortStorage", TensorType.I16,
          "torch.CharStorage", TensorType.I8,
          "torch.ByteStorage", TensorType.U8,
          "torch.BoolStorage", TensorType.BOOL);

  /** Returns what a value describes, or null if it is not a tensor. */
  static @Nullable PthTensor of(Pickled value) {
    boolean isParameter =
        value instanceof Pickled.Call call
            && call.function().equals(PARAMETER)
            && !call.arguments().isEmpty();
    var tensor = isParameter ? ((Pickled.Call) value).arguments().getFirst() : value;
    return tensor instanceof Pickled.Call call
            && call.function().equals(REBUILD)
            && call.arguments().size() >= 4
        ? of(call.arguments())
        : null;
  }

  private static @Nullable PthTensor of(List<Pickled> arguments) {
    if (arguments.get(0) instanceof Pickled.Persistent(Pickled.Tuple(var id))
        && id.size() == 5
        && id.get(1) instanceof Pickled.Global(var storageType)
        && arguments.get(1) instanceof Pickled.Whole(var offset)) {
      var type = TYPES.get(storageType);
      long[] shape = wholes(arguments.get(2));
      long[] strides = wholes(arguments.get(3));
      if (type != null && shape != null && strides != null && shape.length == strides.length) {
        return new PthTensor(type, text(id.get(2)), offset, shape, strides);
      }
    }
    return null;
  }

  private static long @Nullable [] wholes(Pickled value) {
    if (!(value instanceof Pickled.Tuple(var items)) || items.size() > MOST_AXES) {
      return null;
    }
    var numbers = new long[items.size()];
    for (int i = 0; i < numbers.length; i++) {
      if (!(items.get(i) instanceof Pickled.Whole(var number)) || number < 0) {
        return null;
      }
      numbers[i] = number;
    }
    return numbers;
  }

  static String text(Pickled value) {
    return switch (value) {
      case Pickled.Text text -> text.value();
      case Pickled.Bytes bytes -> new String(bytes.value(), StandardCharsets.ISO_8859_1);
      default -> "";
    };
  }

  /** Reads the elements in row order. */
  LiveTensor read(String name, PthArchive archive, Arena arena) {
    var entry = archive.storage(storage);
    try {
      long bytes = Math.multiplyExact(elements(), type.bytes());
      long end = Math.multiplyExact(Math.addExact(offset, extent()), type.bytes());
      if (end > archive.bytesOf(entry)) {
        throw archive.problem(
            "tensor %s needs %d bytes of %s, which has %d"
                .formatted(TensorName.quote(name), end, entry.getName(), archive.bytesOf(entry)));
      }
      archive.allow(name, bytes);
      var memory = arena.allocate(Math.max(1, bytes), Long.BYTES).asSlice(0, bytes);
      try (var in = archive.open(entry)) {
        in.skipNBytes(offset * type.bytes());
        readInto(memory, in);
      }
      return new LiveTensor(name, type, shape, memory);
    } catch (ArithmeticException e) {
      throw archive.problem("tensor %s is impossibly large".formatted(TensorName.quote(name)));
    } catch (IOException e) {
      throw CheckpointException.of("cannot read", Path.of(entry.getName()), e);
    }
  }

  private long elements() {
    long elements = 1;
    for (long size : shape) {
      elements = Math.multiplyExact(elements, size);
    }
    return elements;
  }

  /** Returns the number of elements of the storage from the first to the last that is used. */
  private long extent() {
    long last = 0;
    for (int axis = 0; axis < shape.length; axis++) {
      if (shape[axis] == 0) {
        return 0;
      }
      last = Math.addExact(last, Math.multiplyExact(shape[axis] - 1, strides[axis]));
    }
    return last + 1;
  }

  private boolean isDense() {
    long expected = 1;
    for (int axis = shape.length - 1; axis >= 0; axis--) {
      if (shape[axis] != 1 && strides[axis] != expected) {
        return false;
      }
      expected *= shape[axis];
    }
    return true;
  }

  private void readInto(MemorySegment memory, InputStream in) throws IOException {
    if (isDense()) {
      copy(in, memory);
      return;
    }
    try (var arena = Arena.ofConfined()) {
      var used = arena.allocate(extent() * type.bytes());
      copy(in, used);
      gather(used, memory);
    }
  }

  private static void copy(InputStream in, MemorySegment target) throws IOException {
    for (long at = 0; at < target.byteSize(); ) {
      byte[] chunk = in.readNBytes((int) Math.min(CHUNK, target.byteSize() - at));
      if (chunk.length == 0) {
        throw new EOFException("the storage ends early");
      }
      MemorySegment.copy(MemorySegment.ofArray(chunk), 0, target, at, chunk.length);
      at += chunk.length;
    }
  }

  private void gather(MemorySegment from, MemorySegment to) {
    var index = new long[shape.length];
    for (long i = 0; i < elements(); i++) {
      long place = 0;
      for (int axis = 0; axis < shape.length; axis++) {
        place += index[axis] * strides[axis];
      }
      MemorySegment.copy(from, place * type.bytes(), to, i * type.bytes(), type.bytes());
      for (int axis = shape.length - 1; axis >= 0 && ++index[axis] == shape[axis]; axis--) {
        index[axis] = 0;
      }
    }
  }
}
