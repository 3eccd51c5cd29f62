package dev.flotilla.metric;

import dev.flotilla.model.Answers;
import dev.flotilla.model.Task;
import dev.flotilla.settings.Check;
import dev.flotilla.settings.Setting;
import dev.flotilla.settings.Summary;

/**
 * The fraction of answers of which one of the k best guesses is right.
 *
 * @param topK k, the guesses that count
 */
@Summary("Fraction of answers of which one of the best guesses is right.")
public record Accuracy(
    @Setting(doc = "How many of the best guesses may hold the right class, at least 1.", def = "1")
        int topK)
    implements Metric {

  /** Checks the number. */
  public Accuracy {
    Check.that(topK >= 1, "top_k", "must be at least 1", topK).orThrow();
  }

  /** Counts best guesses alone. */
  public Accuracy() {
    this(1);
  }

  @Override
  public String name() {
    return topK == 1 ? "accuracy" : "accuracy_top" + topK;
  }

  @Override
  public boolean suits(Task task) {
    return task != Task.REGRESSION;
  }

  @Override
  public Tally start() {
    return new MeanOf.Mean(this::hits);
  }

  private double[] hits(Answers answers) {
    var choices = Choices.of(answers, topK);
    var hits = new double[choices.size()];
    for (int i = 0; i < hits.length; i++) {
      hits[i] = choices.isRight(i) ? 1 : 0;
    }
    return hits;
  }
}
