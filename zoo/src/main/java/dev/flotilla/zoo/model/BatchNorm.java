package dev.flotilla.zoo.model;

import dev.flotilla.model.BatchStatistics;
import dev.flotilla.model.BufferSpec;
import dev.flotilla.model.BufferSpec.Kind;
import dev.flotilla.model.ForwardMode;
import dev.flotilla.model.ParameterSpec;
import dev.flotilla.model.Shape;
import dev.flotilla.model.Weights;
import dev.flotilla.onnx.OnnxGraph;
import dev.flotilla.onnx.OnnxLayers;
import dev.flotilla.onnx.OnnxValue;
import java.util.List;
import java.util.function.Supplier;
import org.bytedeco.pytorch.Scalar;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.TensorOptional;
import org.bytedeco.pytorch.global.torch;

/**
 * BatchNorm over channels (Ioffe and Szegedy, 2015): y = γ (x − mean) / √(variance + 10⁻⁵) + β, by
 * the batch's statistics in training and the running ones in evaluation. Those move by a tenth of
 * the way with every training batch, once also where the batch is recomputed. Frozen ones stay, and
 * are used in training too.
 *
 * @param name prefix of parameters and buffers
 * @param channels channels it takes
 * @param scale where γ starts
 */
record BatchNorm(String name, long channels, double scale) implements Layer {

  private static final double MOMENTUM = 0.1;
  private static final double EPSILON = 1e-5;

  @Override
  public List<ParameterSpec> parameters() {
    return Norm.parameters(name, channels, scale);
  }

  @Override
  public List<BufferSpec> buffers() {
    return List.of(
        new BufferSpec(name + ".running_mean", Shape.of(channels), Kind.STATISTIC, 0),
        new BufferSpec(name + ".running_var", Shape.of(channels), Kind.STATISTIC, 1),
        new BufferSpec(name + ".num_batches_tracked", Shape.of(), Kind.COUNTER, 0));
  }

  @Override
  public BoundNorm bind(Weights weights) {
    return new BoundNorm(this, weights);
  }

  @Override
  public OnnxValue addTo(OnnxGraph graph, OnnxValue input) {
    return OnnxLayers.batchNorm(graph, input, name, EPSILON);
  }

  /** A BatchNorm with its weights, by its own batch's statistics or by given ones. */
  static final class BoundNorm implements Bound {

    private final Tensor scale;
    private final Tensor offset;
    private final Supplier<TensorOptional> gamma;
    private final Supplier<TensorOptional> beta;
    private final TensorOptional mean;
    private final TensorOptional variance;
    private final TensorOptional none;
    private final Tensor batches;
    private final Scalar one;
    private final Scalar epsilon;
    private final BatchStatistics statistics;
    private final boolean isFrozen;

    BoundNorm(BatchNorm norm, Weights weights) {
      scale = weights.parameter(norm.name + ".weight");
      offset = weights.parameter(norm.name + ".bias");
      gamma = weights.inFloat32(norm.name + ".weight");
      beta = weights.inFloat32(norm.name + ".bias");
      Tensor runningMean = weights.buffer(norm.name + ".running_mean");
      Tensor runningVariance = weights.buffer(norm.name + ".running_var");
      mean = weights.own(new TensorOptional(runningMean));
      variance = weights.own(new TensorOptional(runningVariance));
      batches = weights.buffer(norm.name + ".num_batches_tracked");
      none = weights.own(new TensorOptional());
      one = weights.own(new Scalar(1));
      epsilon = weights.own(new Scalar(EPSILON));
      isFrozen = weights.isFrozen(norm.name + ".running_mean");
      statistics = new BatchStatistics(runningMean, runningVariance, batches, MOMENTUM);
    }

    BatchStatistics statistics() {
      return statistics;
    }

    @Override
    public Tensor apply(Tensor input, ForwardMode why) {
      var mode = isFrozen ? ForwardMode.EVALUATE : why;
      if (statistics.areGiven() && mode.isTraining()) {
        return byGiven(input);
      }
      // Of one value there is no unbiased variance: it would be 0 / 0, and stay in the average.
      boolean isSingle = mode.isTraining() && input.numel() == input.size(1);
      boolean isStill = mode == ForwardMode.RECOMPUTE || isSingle;
      if (mode == ForwardMode.TRAIN && !isSingle) {
        batches.add_(one);
      }
      return torch.batch_norm(
          input,
          gamma.get(),
          beta.get(),
          isStill ? none : mean,
          isStill ? none : variance,
          mode.isTraining(),
          MOMENTUM,
          EPSILON,
          true);
    }

    /** Elementary operations, so that gradients flow into the statistics as well. */
    private Tensor byGiven(Tensor input) {
      Tensor inverse = statistics.variance().add(epsilon).rsqrt();
      Tensor factor = perChannel(inverse.mul(scale));
      return input.sub(perChannel(statistics.mean())).mul(factor).add(perChannel(offset));
    }

    private static Tensor perChannel(Tensor vector) {
      return vector.view(1, -1, 1, 1);
    }
  }
}
