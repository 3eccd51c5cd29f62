package dev.flotilla.pass;

import dev.flotilla.collective.Collective;
import dev.flotilla.collective.Reduction;
import dev.flotilla.collective.Traffic;
import dev.flotilla.memory.ComputeDevice;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.model.BatchStatistics;
import java.util.List;
import java.util.stream.IntStream;
import org.bytedeco.pytorch.Scalar;
import org.bytedeco.pytorch.ScalarTypeOptional;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;

/**
 * Mean and variance of each channel over several batches on all ranks, and the way of the gradient
 * through them.
 *
 * <p>μ = Σ x / N and v = Σ (x − μ)² / N, summed in float64. Both are leaves: batches add their
 * gradients to them, and once all have, each x gets (∂μ + 2 ∂v (x − μ)) / N on top of its own.
 */
final class Moments implements AutoCloseable {

  private static final torch.ScalarType WIDE = torch.ScalarType.Double;

  private final Collective collective;
  private final double values;
  private final Tensor mean;
  private final Tensor variance;

  /**
   * Pools; all ranks call it together, also those that have no batch.
   *
   * @param type the dtype that the layer wants its statistics in
   */
  Moments(
      List<Tensor> batches,
      long channels,
      torch.ScalarType type,
      Collective collective,
      ComputeDevice device) {
    this.collective = collective;
    try (var _ = TensorScope.open()) {
      var sums = device.zeros(WIDE, channels + 1);
      var ofChannels = sums.narrow(0, 0, channels);
      long own = 0;
      for (var batch : batches) {
        ofChannels.add_(sum(batch));
        own += batch.numel() / channels;
      }
      sums.narrow(0, channels, 1).fill_(new Scalar((double) own));
      allReduce(sums);
      values = sums.narrow(0, channels, 1).item_double();
      var wideMean = ofChannels.div(new Scalar(Math.max(1, values)));
      var spread = device.zeros(WIDE, channels);
      for (var batch : batches) {
        var centred = batch.detach().to(WIDE).sub(perChannel(wideMean, batch));
        spread.add_(sum(centred.square_()));
      }
      allReduce(spread);
      spread.div_(new Scalar(Math.max(1, values)));
      mean = TensorScope.keep(leaf(wideMean, type));
      variance = TensorScope.keep(leaf(spread, type));
    }
  }

  private void allReduce(Tensor sums) {
    collective.allReduce(sums, Reduction.SUM, Traffic.SCALAR).await();
  }

  private static Tensor leaf(Tensor wide, torch.ScalarType type) {
    // A copy also where the type is the same: the leaf must not share memory with a sum.
    return wide.clone().to(type).set_requires_grad(true);
  }

  private static Tensor sum(Tensor batch) {
    long[] axes =
        IntStream.range(0, (int) batch.dim()).filter(i -> i != 1).asLongStream().toArray();
    return batch.detach().sum(axes, false, new ScalarTypeOptional(WIDE));
  }

  private static Tensor perChannel(Tensor vector, Tensor like) {
    long[] shape = new long[(int) like.dim()];
    java.util.Arrays.fill(shape, 1);
    shape[1] = vector.numel();
    return vector.view(shape);
  }

  /** Lets a layer normalise by these. */
  void giveTo(BatchStatistics statistics) {
    statistics.give(mean, variance);
  }

  /** Moves the layer's running statistics once, whatever the number of batches. */
  void follow(BatchStatistics statistics) {
    if (values > 0) {
      try (var _ = TensorScope.open()) {
        statistics.follow(mean.detach(), variance.detach(), values);
      }
    }
  }

  /** Sums over all ranks what batches have added to the gradients; all ranks call it together. */
  void reduceGradients() {
    try (var _ = TensorScope.open()) {
      for (var leaf : List.of(mean, variance)) {
        var gradient = leaf.grad().defined() ? leaf.grad() : leaf.new_zeros(leaf.shape());
        var wide = gradient.to(WIDE).clone();
        allReduce(wide);
        leaf.mutable_grad().put(wide.to(type(leaf)));
      }
    }
  }

  private static torch.ScalarType type(Tensor tensor) {
    return tensor.scalar_type().intern();
  }

  /** Returns the gradient that reaches a batch through its part in the statistics. */
  Tensor through(Tensor batch) {
    try (var scope = TensorScope.open()) {
      var x = batch.detach().to(type(mean));
      var centred = x.sub(perChannel(mean.detach(), batch));
      var spread = perChannel(variance.grad().mul(new Scalar(2 / values)), batch);
      var shift = perChannel(mean.grad().div(new Scalar(values)), batch);
      return scope.handOut(centred.mul_(spread).add_(shift).to(type(batch)));
    }
  }

  @Override
  public void close() {
    TensorScope.free(mean);
    TensorScope.free(variance);
  }
}
