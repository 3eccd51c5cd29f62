package dev.flotilla.memory;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Function;
import org.bytedeco.pytorch.MemoryFormatOptional;
import org.bytedeco.pytorch.Scalar;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.TensorOptions;
import org.bytedeco.pytorch.global.torch;
import org.bytedeco.pytorch.global.torch.ScalarType;
import org.jspecify.annotations.Nullable;

/**
 * Makes tensors of Java numbers and reads them back, without the native helper objects that each
 * call of the binding would otherwise leave to the collector.
 *
 * <p>Arrays hold a tensor's numbers row by row, the last axis fastest.
 */
public final class Tensors {

  private static final Set<ScalarType> REALS =
      EnumSet.of(ScalarType.Float, ScalarType.Half, ScalarType.BFloat16);
  private static final Set<ScalarType> INTEGERS =
      EnumSet.of(
          ScalarType.Int, ScalarType.Short, ScalarType.Char, ScalarType.Byte, ScalarType.Bool);

  private Tensors() {}

  /** Returns a tensor of zeros in the current scope. */
  public static Tensor zeros(ScalarType type, long... shape) {
    return empty(type, shape).zero_();
  }

  /** Returns a tensor without defined content in the current scope. */
  public static Tensor empty(ScalarType type, long... shape) {
    return TensorScope.made(torch.empty(shape, Options.of(type), Options.ANY_FORMAT));
  }

  /** What calls of libtorch want beside numbers, made once and kept as long as the process. */
  private static final class Options {

    static final MemoryFormatOptional ANY_FORMAT = TensorScope.keep(new MemoryFormatOptional());

    /** By the number of the type: what libtorch returns is a new constant each time. */
    private static final AtomicReferenceArray<@Nullable TensorOptions> BY_TYPE =
        new AtomicReferenceArray<>(1 << Byte.SIZE);

    static TensorOptions of(ScalarType type) {
      var known = BY_TYPE.get(type.value);
      return known == null ? make(type) : known;
    }

    private static synchronized TensorOptions make(ScalarType type) {
      var known = BY_TYPE.get(type.value);
      if (known != null) {
        return known;
      }
      var made = TensorScope.keep(new TensorOptions(type));
      BY_TYPE.set(type.value, made);
      return made;
    }
  }

  /** Returns a float32 vector in the current scope. */
  public static Tensor ofFloats(float... values) {
    return ofFloats(values, new long[] {values.length});
  }

  /** Returns a float32 tensor in the current scope. */
  public static Tensor ofFloats(float[] values, long... shape) {
    return filled(ScalarType.Float, MemorySegment.ofArray(values), values.length, shape);
  }

  /** Returns a float64 vector in the current scope. */
  public static Tensor ofDoubles(double... values) {
    return ofDoubles(values, new long[] {values.length});
  }

  /** Returns a float64 tensor in the current scope. */
  public static Tensor ofDoubles(double[] values, long... shape) {
    return filled(ScalarType.Double, MemorySegment.ofArray(values), values.length, shape);
  }

  /** Returns an int64 vector in the current scope. */
  public static Tensor ofLongs(long... values) {
    return ofLongs(values, new long[] {values.length});
  }

  /** Returns an int64 tensor in the current scope, such as class numbers and tokens are. */
  public static Tensor ofLongs(long[] values, long... shape) {
    return filled(ScalarType.Long, MemorySegment.ofArray(values), values.length, shape);
  }

  /** Returns an int32 vector in the current scope. */
  public static Tensor ofInts(int... values) {
    return ofInts(values, new long[] {values.length});
  }

  /** Returns an int32 tensor in the current scope. */
  public static Tensor ofInts(int[] values, long... shape) {
    return filled(ScalarType.Int, MemorySegment.ofArray(values), values.length, shape);
  }

  private static Tensor filled(ScalarType type, MemorySegment values, int count, long[] shape) {
    long wanted = elements(shape);
    if (wanted != count) {
      throw new IllegalArgumentException(
          "shape %s takes %d numbers, but %d are given"
              .formatted(Arrays.toString(shape), wanted, count));
    }
    var tensor = empty(type, shape);
    if (count > 0) {
      NativeView.of(tensor).copyFrom(values);
    }
    return tensor;
  }

  private static long elements(long[] shape) {
    long elements = 1;
    for (long extent : shape) {
      if (extent < 0) {
        throw new IllegalArgumentException(
            "a shape must not have negative extents, but was " + Arrays.toString(shape));
      }
      elements = Math.multiplyExact(elements, extent);
    }
    return elements;
  }

  /** Returns the numbers of a tensor of float32, fp16 or bf16 on any device. */
  public static float[] toFloats(Tensor tensor) {
    requireType(tensor, "toFloats", REALS, ScalarType.Float);
    return read(tensor, ScalarType.Float, it -> it.toArray(ValueLayout.JAVA_FLOAT));
  }

  /** Returns the numbers of a tensor of a floating-point type on any device. */
  public static double[] toDoubles(Tensor tensor) {
    requireType(tensor, "toDoubles", REALS, ScalarType.Double);
    return read(tensor, ScalarType.Double, it -> it.toArray(ValueLayout.JAVA_DOUBLE));
  }

  /** Returns the numbers of a tensor of integers of at most 32 bits, or of booleans. */
  public static int[] toInts(Tensor tensor) {
    requireType(tensor, "toInts", INTEGERS, ScalarType.Int);
    return read(tensor, ScalarType.Int, it -> it.toArray(ValueLayout.JAVA_INT));
  }

  /** Returns the numbers of a tensor of integers, or of booleans, on any device. */
  public static long[] toLongs(Tensor tensor) {
    requireType(tensor, "toLongs", INTEGERS, ScalarType.Long);
    return read(tensor, ScalarType.Long, it -> it.toArray(ValueLayout.JAVA_LONG));
  }

  private static void requireType(
      Tensor tensor, String method, Set<ScalarType> narrower, ScalarType own) {
    var type = tensor.scalar_type().intern();
    if (type != own && !narrower.contains(type)) {
      throw new IllegalArgumentException(
          "%s would change the numbers of a tensor of type %s: read it with %s"
              .formatted(method, type, reader(type)));
    }
  }

  private static String reader(ScalarType type) {
    return switch (type) {
      case Float, Half, BFloat16 -> "toFloats";
      case Double -> "toDoubles";
      case Long -> "toLongs";
      case Int, Short, Char, Byte, Bool -> "toInts";
      default -> "libtorch's own methods";
    };
  }

  private static <A> A read(Tensor tensor, ScalarType type, Function<MemorySegment, A> toArray) {
    try (var _ = TensorScope.open()) {
      var dense = ComputeDevice.CPU.bring(tensor.detach()).to(type).contiguous();
      return toArray.apply(NativeView.of(dense));
    }
  }

  /** Multiplies a tensor in place. */
  public static void scale(Tensor tensor, double factor) {
    try (var scalar = new Scalar(factor)) {
      tensor.mul_(scalar);
    }
  }

  /** Brings each element to the nearest number of at most this absolute value, in place. */
  public static void limit(Tensor tensor, double most) {
    try (var least = new Scalar(-most);
        var largest = new Scalar(most)) {
      tensor.clamp_min_(least).clamp_max_(largest);
    }
  }
}
