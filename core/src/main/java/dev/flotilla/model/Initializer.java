package dev.flotilla.model;

import java.util.SplittableRandom;

/**
 * How a parameter starts.
 *
 * <p>Values are a function of the seed and the parameter's name alone, so that they depend neither
 * on the number of ranks or threads nor on the order in which parameters are made.
 */
public sealed interface Initializer {

  /** Returns the value of the next element. */
  double next(SplittableRandom random);

  /** Returns the value of the element at an index of the flattened parameter, asked in order. */
  default double at(long index, SplittableRandom random) {
    return next(random);
  }

  /** The same value everywhere. */
  record Constant(double value) implements Initializer {
    @Override
    public double next(SplittableRandom random) {
      return value;
    }
  }

  /** Uniform in [-bound, bound). */
  record Uniform(double bound) implements Initializer {
    @Override
    public double next(SplittableRandom random) {
      return (2 * random.nextDouble() - 1) * bound;
    }
  }

  /** Gaussian. */
  record Normal(double mean, double deviation) implements Initializer {
    @Override
    public double next(SplittableRandom random) {
      return mean + deviation * random.nextGaussian();
    }
  }

  /**
   * Gaussian around zero, but zero at some elements: the row of an embedding that stands for
   * padding.
   *
   * @param from the first element that is zero
   * @param to the element after the last one that is
   */
  record NormalExcept(double deviation, long from, long to) implements Initializer {
    @Override
    public double next(SplittableRandom random) {
      return deviation * random.nextGaussian();
    }

    @Override
    public double at(long index, SplittableRandom random) {
      return index >= from && index < to ? 0 : next(random);
    }
  }

  /**
   * Returns PyTorch's default for weights and biases of layers with this many inputs per output.
   */
  static Initializer forFanIn(long inputs) {
    return new Uniform(1 / Math.sqrt((double) inputs));
  }

  /** Returns the generator for a parameter. */
  static SplittableRandom randomFor(long seed, String parameter) {
    long hash = 0xcbf29ce484222325L;
    for (int i = 0; i < parameter.length(); i++) {
      hash = (hash ^ parameter.charAt(i)) * 0x100000001b3L;
    }
    return new SplittableRandom(seed * 0x9e3779b97f4a7c15L + hash);
  }
}
