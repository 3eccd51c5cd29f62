package dev.flotilla.model;

import org.bytedeco.pytorch.Tensor;

/**
 * What a model has answered, beside what it should have.
 *
 * @param outputs a row for each answer: logits of classes, or numbers
 * @param targets the right answers, in the same order
 */
public record Answers(Tensor outputs, Tensor targets) {

  /** Returns a text with both shapes. */
  @Override
  public String toString() {
    return "outputs of shape %s and targets of shape %s"
        .formatted(Shape.of(outputs.shape()), Shape.of(targets.shape()));
  }
}
