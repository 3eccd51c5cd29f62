package dev.flotilla.data;

import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import org.bytedeco.pytorch.Tensor;
import org.jspecify.annotations.Nullable;

/** One tensor of a batch, made of one thing that each object has. */
sealed interface Field<T> permits NumbersField, TokensField, LabelField {

  /** Encodes samples as one tensor in the current scope, with one row each. */
  Tensor encode(List<T> objects, long[] numbers);

  /** Returns this field with the size that the first sample has. */
  default Field<T> fixedBy(T first, long number) {
    return this;
  }

  /** Asks a function of the user's own; says for which sample it failed or gave nothing. */
  static <T, V> V ask(
      String name, Function<? super T, ? extends @Nullable V> own, T object, long number) {
    @Nullable V value;
    try {
      value = own.apply(object);
    } catch (RuntimeException failure) {
      throw new IllegalArgumentException(
          "the %s of sample %d cannot be made: %s"
              .formatted(
                  name,
                  number,
                  Objects.requireNonNullElse(failure.getMessage(), failure.toString())),
          failure);
    }
    if (value == null) {
      throw new IllegalArgumentException("the %s of sample %d is null".formatted(name, number));
    }
    return value;
  }
}
