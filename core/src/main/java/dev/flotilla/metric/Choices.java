package dev.flotilla.metric;

import dev.flotilla.memory.TensorScope;
import dev.flotilla.model.Answers;
import org.bytedeco.pytorch.global.torch;

/**
 * The classes that a model has chosen, and the right ones.
 *
 * @param classes number of classes
 * @param guesses guesses per answer
 * @param chosen the guesses of each answer, the best first, one answer after the other
 * @param right the right class of each answer
 */
@SuppressWarnings("ArrayRecordComponent") // Never compared.
record Choices(int classes, int guesses, long[] chosen, long[] right) {

  /**
   * Reads the best guesses of a classifier, as many as there are classes at most.
   *
   * @throws IllegalArgumentException if these are not logits of classes and one class each
   */
  static Choices of(Answers answers, int wanted) {
    requireClasses(answers);
    try (var _ = TensorScope.open()) {
      long classes = answers.outputs().size(1);
      int guesses = (int) Math.min(wanted, classes);
      var best = torch.topk(answers.outputs(), guesses).get1();
      return new Choices(
          Math.toIntExact(classes),
          guesses,
          Numbers.integers(best),
          Numbers.integers(answers.targets()));
    }
  }

  static void requireClasses(Answers answers) {
    var outputs = answers.outputs();
    var targets = answers.targets();
    boolean fit =
        outputs.dim() == 2
            && targets.dim() == 1
            && outputs.size(0) == targets.size(0)
            && !targets.is_floating_point();
    if (!fit) {
      throw new IllegalArgumentException("it takes samples x classes, and a class for each sample");
    }
  }

  /** Returns the number of answers. */
  int size() {
    return right.length;
  }

  /** Returns the best guess of an answer. */
  int best(int answer) {
    return (int) chosen[answer * guesses];
  }

  /** Tells whether one of an answer's guesses is right. */
  boolean isRight(int answer) {
    for (int i = answer * guesses; i < (answer + 1) * guesses; i++) {
      if (chosen[i] == right[answer]) {
        return true;
      }
    }
    return false;
  }
}
