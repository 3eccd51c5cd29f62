package dev.flotilla.zoo.model;

import dev.flotilla.memory.Autocast;
import dev.flotilla.memory.ComputeDevice;
import dev.flotilla.model.ForwardMode;
import dev.flotilla.model.Weights;
import org.bytedeco.pytorch.DoubleOptional;
import org.bytedeco.pytorch.Scalar;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.TensorOptional;
import org.bytedeco.pytorch.global.torch;

/**
 * softmax(q kᵀ / √d) v over all heads at once, with dropout of the weights in training.
 *
 * <p>By libtorch's fused operator where that is quick, on a GPU with the quickest of its kernels.
 * On a CPU it is not in 16 bits, and with dropout it falls back to a long row of operations; there
 * the four that are needed are called one by one.
 */
final class Attention {

  private final double dropout;
  private final TensorOptional everything;
  private final DoubleOptional usualScale;
  private final Scalar scale;
  private final Scalar never;

  Attention(double dropout, long headSize, Weights weights) {
    this.dropout = dropout;
    everything = weights.own(new TensorOptional());
    usualScale = weights.own(new DoubleOptional());
    scale = weights.own(new Scalar(1 / Math.sqrt(headSize)));
    never = weights.own(new Scalar(Double.NEGATIVE_INFINITY));
  }

  /**
   * Attends.
   *
   * @param visible which positions may be attended to, or an empty tensor where all may
   */
  Tensor apply(Tensor query, Tensor key, Tensor value, Tensor visible, ForwardMode mode) {
    double fraction = mode.isTraining() ? dropout : 0;
    boolean isHalf = Autocast.current(ComputeDevice.CPU) != null;
    if (query.is_cpu() && (fraction > 0 || isHalf)) {
      return byParts(query, key, value, visible, mode);
    }
    if (query.is_cuda() && mode.isTraining() && visible.numel() == 0) {
      return AttentionTrial.quickest(
          query, key, value, fraction, () -> fused(query, key, value, everything, fraction));
    }
    var mask = visible.numel() == 0 ? everything : new TensorOptional(visible);
    return fused(query, key, value, mask, fraction);
  }

  private Tensor fused(
      Tensor query, Tensor key, Tensor value, TensorOptional mask, double fraction) {
    return torch.scaled_dot_product_attention(
        query, key, value, mask, fraction, false, usualScale, false);
  }

  private Tensor byParts(Tensor query, Tensor key, Tensor value, Tensor visible, ForwardMode mode) {
    Tensor scores = query.mul(scale).matmul(key.transpose(-2, -1));
    if (visible.numel() > 0) {
      scores = scores.masked_fill(visible.logical_not(), never);
    }
    return Dropout.apply(scores.softmax(-1), dropout, mode).matmul(value);
  }
}
