package dev.flotilla.data;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.ToIntFunction;
import org.bytedeco.pytorch.Tensor;

/**
 * How an object of a program becomes the numbers of a sample: input tensors, in the order in which
 * the model takes them, and targets.
 *
 * <pre>{@code
 * Encoding.<House>empty().input(House::sizes).input(House::photo, 3, 32, 32).target(House::price)
 * }</pre>
 *
 * <p>Immutable. Its functions are called on the threads that load data, again for each epoch, and
 * return the same for the same object.
 */
public final class Encoding<T> {

  private final List<Field<T>> inputs;
  private final List<Field<T>> targets;

  private Encoding(List<Field<T>> inputs, List<Field<T>> targets) {
    this.inputs = List.copyOf(inputs);
    this.targets = List.copyOf(targets);
  }

  /** Returns an encoding of nothing yet. */
  public static <T> Encoding<T> empty() {
    return new Encoding<>(List.of(), List.of());
  }

  /** Adds an input tensor of float32 with as many numbers for each sample: [n, numbers]. */
  public Encoding<T> input(Function<? super T, float[]> toNumbers) {
    return withInput(new NumbersField<>(name("input", inputs), toNumbers));
  }

  /**
   * Adds an input tensor of float32 with a shape of its own for each sample.
   *
   * @param toNumbers gives the numbers of a sample row by row, the last axis fastest
   * @param shape of one sample
   */
  public Encoding<T> input(Function<? super T, float[]> toNumbers, long... shape) {
    return withInput(new NumbersField<>(name("input", inputs), toNumbers, shape));
  }

  /**
   * Adds an input tensor of int64 with as many tokens as the longest sample of a batch has. {@link
   * BatchSource#byLength} puts samples of like length together.
   *
   * @param padding what shorter samples are filled up with
   */
  public Encoding<T> tokens(Function<? super T, long[]> toTokens, long padding) {
    return withInput(new TokensField<>(name("tokens", inputs), toTokens, padding));
  }

  /** Adds a target that names a class of each sample: int64 of [n], from 0 up. */
  public Encoding<T> label(ToIntFunction<? super T> toLabel) {
    return label(toLabel, Integer.MAX_VALUE);
  }

  /**
   * Adds a target that names a class of each sample: int64 of [n], in [0, classes).
   *
   * @param classes how many there are; a label outside is an error that names the sample
   */
  public Encoding<T> label(ToIntFunction<? super T> toLabel, int classes) {
    if (classes < 1) {
      throw new IllegalArgumentException("classes must be at least 1, but was " + classes);
    }
    return withTarget(new LabelField<>(name("label", targets), toLabel, classes));
  }

  /** Adds a target of float32 with as many numbers for each sample: [n, numbers]. */
  public Encoding<T> target(Function<? super T, float[]> toNumbers) {
    return withTarget(new NumbersField<>(name("target", targets), toNumbers));
  }

  /** Adds a target of float32 with a shape of its own for each sample. */
  public Encoding<T> target(Function<? super T, float[]> toNumbers, long... shape) {
    return withTarget(new NumbersField<>(name("target", targets), toNumbers, shape));
  }

  private static String name(String kind, List<?> fields) {
    return fields.isEmpty() ? kind : kind + " " + (fields.size() + 1);
  }

  private Encoding<T> withInput(Field<T> field) {
    return new Encoding<>(with(inputs, field), targets);
  }

  private Encoding<T> withTarget(Field<T> field) {
    return new Encoding<>(inputs, with(targets, field));
  }

  private static <T> List<Field<T>> with(List<Field<T>> fields, Field<T> field) {
    var more = new ArrayList<>(fields);
    more.add(field);
    return more;
  }

  /** Returns this encoding with the sizes that the first sample has, which all must have. */
  Encoding<T> fixedBy(T first, long number) {
    if (inputs.isEmpty() || targets.isEmpty()) {
      throw new IllegalArgumentException(
          "an encoding needs an input and a target, but has %d inputs and %d targets: add them with"
                  .formatted(inputs.size(), targets.size())
              + " input(...) and label(...) or target(...)");
    }
    return new Encoding<>(
        inputs.stream().map(field -> field.fixedBy(first, number)).toList(),
        targets.stream().map(field -> field.fixedBy(first, number)).toList());
  }

  /** Encodes samples as one batch in the current scope. */
  Batch encode(List<T> objects, long[] numbers) {
    return new Batch(
        tensors(inputs, objects, numbers), tensors(targets, objects, numbers), objects.size());
  }

  private static <T> List<Tensor> tensors(List<Field<T>> fields, List<T> objects, long[] numbers) {
    return fields.stream().map(field -> field.encode(objects, numbers)).toList();
  }

  /** Returns the labels, if they are the only target. */
  Optional<LabelField<T>> labels() {
    return targets.size() == 1 && targets.getFirst() instanceof LabelField<T> labels
        ? Optional.of(labels)
        : Optional.empty();
  }

  /** Returns the first input of tokens. */
  Optional<TokensField<T>> tokens() {
    for (var field : inputs) {
      if (field instanceof TokensField<T> tokens) {
        return Optional.of(tokens);
      }
    }
    return Optional.empty();
  }
}
