package dev.flotilla.model;

import dev.flotilla.data.Batch;
import java.util.Arrays;

/** What the parts of a loss are divided by, and the samples that these numbers are of. */
public final class Divisors {

  private final double[] numbers;

  /**
   * States divisors.
   *
   * @param numbers the divisor of each part, and behind them the number of samples
   */
  public Divisors(double... numbers) {
    this.numbers = numbers.clone();
  }

  /** Returns those of batches, of which none is empty. */
  public static Divisors of(ObjectiveParts parts, Batch... batches) {
    double[] sums = new double[parts.size() + 1];
    for (var batch : batches) {
      double[] more = parts.divisors(batch);
      for (int i = 0; i < more.length; i++) {
        sums[i] += more[i];
      }
      sums[parts.size()] += batch.samples();
    }
    return new Divisors(sums);
  }

  /** Returns a copy of all numbers, which may be added to others. */
  public double[] numbers() {
    return numbers.clone();
  }

  /** Tells whether nothing has a part in the loss. */
  public boolean isEmpty() {
    return Arrays.stream(numbers, 0, numbers.length - 1).noneMatch(divisor -> divisor > 0);
  }

  /**
   * Returns the factor on a part's sum, which is then divided by the number of samples; 0 for a
   * part in which nothing is counted.
   */
  double factor(int part) {
    return numbers[part] > 0 ? numbers[numbers.length - 1] / numbers[part] : 0;
  }

  @Override
  public String toString() {
    return "Divisors" + Arrays.toString(numbers);
  }
}
