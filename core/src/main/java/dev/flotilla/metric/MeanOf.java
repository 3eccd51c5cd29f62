package dev.flotilla.metric;

import dev.flotilla.model.Answers;
import java.util.Arrays;
import java.util.function.Function;
import org.bytedeco.pytorch.Tensor;

/** The mean of a number per answer. */
record MeanOf(String name, Function<Answers, Tensor> perAnswer, boolean higherIsBetter)
    implements Metric {

  @Override
  public Tally start() {
    return new Mean(answers -> Numbers.reals(perAnswer.apply(answers)));
  }

  /** Adds numbers and counts them. */
  static final class Mean extends Sums {

    private final Function<Answers, double[]> numbers;

    Mean(Function<Answers, double[]> numbers) {
      this.numbers = numbers;
    }

    @Override
    public void update(Answers answers) {
      var values = numbers.apply(answers);
      add(Arrays.stream(values).sum(), values.length);
    }

    @Override
    public double value() {
      return sum(0) / sum(1);
    }
  }
}
