package dev.flotilla.metric;

import dev.flotilla.memory.TensorScope;
import dev.flotilla.model.Answers;
import dev.flotilla.model.Task;
import dev.flotilla.settings.Summary;
import java.util.Arrays;
import org.bytedeco.pytorch.TensorOptional;
import org.bytedeco.pytorch.global.torch;

/** How many classes a model wavers between: exp of the mean −log p of the right class. */
@Summary("exp of the mean cross entropy: how many classes the model wavers between.")
public record Perplexity() implements Metric {

  private static final long EACH = 0;
  private static final long NONE_IGNORED = Long.MIN_VALUE;

  @Override
  public String name() {
    return "perplexity";
  }

  @Override
  public boolean higherIsBetter() {
    return false;
  }

  @Override
  public boolean suits(Task task) {
    return task != Task.REGRESSION;
  }

  @Override
  public Tally start() {
    return new Entropy();
  }

  private static final class Entropy extends Sums {

    @Override
    public void update(Answers answers) {
      Choices.requireClasses(answers);
      try (var _ = TensorScope.open()) {
        var each =
            torch.cross_entropy_loss(
                answers.outputs(), answers.targets(), new TensorOptional(), EACH, NONE_IGNORED, 0);
        var numbers = Numbers.reals(each);
        add(Arrays.stream(numbers).sum(), numbers.length);
      }
    }

    @Override
    public double value() {
      return Math.exp(sum(0) / sum(1));
    }
  }
}
