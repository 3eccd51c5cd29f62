package dev.flotilla.zoo.model;

import dev.flotilla.model.BufferSpec;
import dev.flotilla.model.ForwardMode;
import dev.flotilla.model.ParameterSpec;
import dev.flotilla.model.Shape;
import dev.flotilla.model.Weights;
import java.util.List;
import org.bytedeco.pytorch.Scalar;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.TensorOptional;
import org.bytedeco.pytorch.global.torch;

/**
 * BatchNorm over channels (Ioffe and Szegedy, 2015): y = γ (x − mean) / √(variance + 10⁻⁵) + β, by
 * the batch's statistics in training and the running ones in evaluation. Those move by a tenth of
 * the way with every training batch, once also where the batch is replayed.
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
        new BufferSpec(name + ".running_mean", Shape.of(channels), false, 0),
        new BufferSpec(name + ".running_var", Shape.of(channels), false, 1),
        new BufferSpec(name + ".num_batches_tracked", Shape.of(), true, 0));
  }

  @Override
  public Bound bind(Weights weights) {
    var gamma = weights.optional(name + ".weight");
    var beta = weights.optional(name + ".bias");
    var mean = weights.own(new TensorOptional(weights.buffer(name + ".running_mean")));
    var variance = weights.own(new TensorOptional(weights.buffer(name + ".running_var")));
    Tensor batches = weights.buffer(name + ".num_batches_tracked");
    var none = weights.own(new TensorOptional());
    var one = weights.own(new Scalar(1));
    return (input, mode) -> {
      boolean isReplay = mode == ForwardMode.REPLAY;
      if (mode == ForwardMode.TRAIN) {
        batches.add_(one);
      }
      return torch.batch_norm(
          input,
          gamma,
          beta,
          isReplay ? none : mean,
          isReplay ? none : variance,
          mode.isTraining(),
          MOMENTUM,
          EPSILON,
          true);
    };
  }
}
