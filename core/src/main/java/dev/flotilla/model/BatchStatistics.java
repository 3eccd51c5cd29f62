package dev.flotilla.model;

import java.util.Objects;
import org.bytedeco.pytorch.Scalar;
import org.bytedeco.pytorch.Tensor;
import org.jspecify.annotations.Nullable;

/**
 * The mean and variance that a BatchNorm normalises by, where somebody else than the layer computes
 * them: over a whole accumulation window, or over all ranks.
 *
 * <p>A layer asks {@link #areGiven} at each forward; by default nothing is given and it looks at
 * its own batch.
 */
public final class BatchStatistics {

  private final Tensor runningMean;
  private final Tensor runningVariance;
  private final Tensor batches;
  private final double momentum;
  private @Nullable Tensor mean;
  private @Nullable Tensor variance;

  /**
   * Creates the statistics of a layer.
   *
   * @param runningMean buffer that follows the mean
   * @param runningVariance buffer that follows the unbiased variance
   * @param batches counter of training batches
   * @param momentum fraction by which the buffers follow
   */
  public BatchStatistics(
      Tensor runningMean, Tensor runningVariance, Tensor batches, double momentum) {
    this.runningMean = runningMean;
    this.runningVariance = runningVariance;
    this.batches = batches;
    this.momentum = momentum;
  }

  /** Returns the number of channels. */
  public long channels() {
    return runningMean.numel();
  }

  /** Tells whether the next forward must use what was given. */
  public boolean areGiven() {
    return mean != null;
  }

  /** Returns the given mean of each channel. */
  public Tensor mean() {
    return Objects.requireNonNull(mean);
  }

  /** Returns the given variance of each channel, not corrected for the sample's size. */
  public Tensor variance() {
    return Objects.requireNonNull(variance);
  }

  /** Gives the statistics of the next forwards; they stay the caller's. */
  public void give(Tensor pooledMean, Tensor pooledVariance) {
    mean = pooledMean;
    variance = pooledVariance;
  }

  /** Lets the layer look at its own batch again. */
  public void takeBack() {
    mean = null;
    variance = null;
  }

  /**
   * Moves the running statistics towards those of one batch.
   *
   * @param values numbers per channel that they were taken over
   */
  public void follow(Tensor pooledMean, Tensor pooledVariance, double values) {
    try (var keep = new Scalar(1 - momentum);
        var take = new Scalar(momentum);
        var unbiased = new Scalar(momentum * values / Math.max(1, values - 1));
        var one = new Scalar(1)) {
      runningMean.mul_(keep).add_(pooledMean, take);
      runningVariance.mul_(keep).add_(pooledVariance, unbiased);
      batches.add_(one);
    }
  }
}
