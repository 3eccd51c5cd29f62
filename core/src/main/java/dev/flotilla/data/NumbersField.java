package dev.flotilla.data;

import dev.flotilla.memory.Tensors;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;
import org.bytedeco.pytorch.Tensor;

/** Numbers, as many for each sample. */
final class NumbersField<T> implements Field<T> {

  private final String name;
  private final Function<? super T, float[]> toNumbers;
  private final long[] shape;
  private final boolean isFixed;

  private NumbersField(
      String name, Function<? super T, float[]> toNumbers, long[] shape, boolean isFixed) {
    this.name = name;
    this.toNumbers = toNumbers;
    this.shape = shape;
    this.isFixed = isFixed;
  }

  NumbersField(String name, Function<? super T, float[]> toNumbers) {
    this(name, toNumbers, new long[0], false);
  }

  NumbersField(String name, Function<? super T, float[]> toNumbers, long[] shape) {
    this(name, toNumbers, shape.clone(), true);
    if (Arrays.stream(shape).anyMatch(extent -> extent < 1)) {
      throw new IllegalArgumentException(
          "the extents of %s must be at least 1, but are %s"
              .formatted(name, Arrays.toString(shape)));
    }
  }

  @Override
  public Field<T> fixedBy(T first, long number) {
    if (isFixed) {
      return this;
    }
    int length = Field.ask(name, toNumbers, first, number).length;
    if (length == 0) {
      throw new IllegalArgumentException(
          "the %s of sample %d has no number".formatted(name, number));
    }
    return new NumbersField<>(name, toNumbers, new long[] {length}, true);
  }

  @Override
  public Tensor encode(List<T> objects, long[] numbers) {
    int length = Math.toIntExact(Arrays.stream(shape).reduce(1, Math::multiplyExact));
    var all = new float[Math.multiplyExact(length, objects.size())];
    for (int i = 0; i < objects.size(); i++) {
      float[] own = Field.ask(name, toNumbers, objects.get(i), numbers[i]);
      if (own.length != length) {
        throw new IllegalArgumentException(
            "the %s of sample %d has %d numbers, but %d are expected, %s"
                .formatted(
                    name,
                    numbers[i],
                    own.length,
                    length,
                    shape.length == 1
                        ? "as the first one has: give all samples as many"
                        : "for the shape " + Arrays.toString(shape)));
      }
      System.arraycopy(own, 0, all, i * length, length);
    }
    return Tensors.ofFloats(all, withRows(objects.size()));
  }

  private long[] withRows(int rows) {
    var whole = new long[shape.length + 1];
    whole[0] = rows;
    System.arraycopy(shape, 0, whole, 1, shape.length);
    return whole;
  }
}
