package dev.flotilla.metric;

import dev.flotilla.model.Answers;
import dev.flotilla.model.Task;
import java.util.function.Function;
import org.bytedeco.pytorch.Tensor;

/**
 * Something that is measured over a whole data set, such as accuracy or F1.
 *
 * <p>Those that recipes name are settings records listed in the catalogue; {@link #mean} makes one
 * of a function.
 */
public interface Metric {

  /** Returns the name under which events, summaries and {@code stop_when} know the value. */
  String name();

  /** Returns a tally of nothing yet. */
  Tally start();

  /** Tells whether a larger value is a better one. */
  default boolean higherIsBetter() {
    return true;
  }

  /** Tells whether it can judge what a model is asked for; {@link Task#OTHER} is let through. */
  default boolean suits(Task task) {
    return true;
  }

  /**
   * Returns the mean of a number per answer, for a metric in one line.
   *
   * <pre>{@code
   * Metric.mean("off_by_one", it -> it.outputs().argmax(…).sub(it.targets()).abs().le(one))
   * }</pre>
   *
   * @param perAnswer maps outputs and targets to a tensor of numbers, or of true and false
   */
  static Metric mean(String name, Function<Answers, Tensor> perAnswer) {
    return new MeanOf(name, perAnswer, true);
  }

  /** Returns the mean of a number per answer of which less is better, such as an error. */
  static Metric meanError(String name, Function<Answers, Tensor> perAnswer) {
    return new MeanOf(name, perAnswer, false);
  }
}
