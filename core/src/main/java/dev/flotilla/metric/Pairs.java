package dev.flotilla.metric;

import dev.flotilla.model.Answers;
import dev.flotilla.model.Shape;
import java.util.function.DoubleBinaryOperator;

/**
 * Numbers that a model has given, and the right ones.
 *
 * @param columns numbers of one sample
 * @param given what the model gave, one sample after the other
 * @param right the right ones
 */
@SuppressWarnings("ArrayRecordComponent") // Never compared.
record Pairs(int columns, double[] given, double[] right) {

  /**
   * Reads numbers.
   *
   * @throws IllegalArgumentException if there is not a target for each
   */
  static Pairs of(Answers answers) {
    var shape = Shape.of(answers.outputs().shape());
    if (!shape.equals(Shape.of(answers.targets().shape())) || shape.dimensions().isEmpty()) {
      throw new IllegalArgumentException("it takes a target for each number, in the same shape");
    }
    long samples = Math.max(1, shape.dimensions().getFirst());
    return new Pairs(
        Math.toIntExact(shape.elements() / samples),
        Numbers.reals(answers.outputs()),
        Numbers.reals(answers.targets()));
  }

  /** Returns a number for each pair. */
  double[] map(DoubleBinaryOperator ofGivenAndRight) {
    var numbers = new double[given.length];
    for (int i = 0; i < numbers.length; i++) {
      numbers[i] = ofGivenAndRight.applyAsDouble(given[i], right[i]);
    }
    return numbers;
  }
}
