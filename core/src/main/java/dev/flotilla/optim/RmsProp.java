package dev.flotilla.optim;

import dev.flotilla.optim.Packed.Piece;
import dev.flotilla.settings.Setting;
import java.util.List;
import java.util.OptionalInt;
import org.bytedeco.pytorch.Scalar;
import org.bytedeco.pytorch.Tensor;
import org.jspecify.annotations.Nullable;

/**
 * RMSprop (Tieleman and Hinton, 2012), as PyTorch writes it.
 *
 * <p>g ← g + λ w; v ← α v + (1 − α) g²; d ← g / (√v + ε), or centered, with a ← α a + (1 − α) g, d
 * ← g / (√(v − a²) + ε); w ← w − η d, or with momentum u ← m u + d; w ← w − η u.
 *
 * @param lr learning rate η
 * @param alpha decay rate α of the averages
 * @param eps added to the denominator
 * @param momentum factor m; 0 for none
 * @param centered whether the mean of gradients is taken out of the denominator
 * @param weightDecay decay λ; biases and norms are not decayed unless a name pattern says so
 * @param scaleLr how η grows with the batch
 * @param baseBatch the batch for which η was found, or null without scaling
 */
public record RmsProp(
    @Setting(doc = Rules.LR) double lr,
    @Setting(
            doc = "decay rate of the averages of gradients and their squares, in [0, 1)",
            def = "0.99")
        double alpha,
    @Setting(doc = "added to the denominator, > 0", def = "1e-8") double eps,
    @Setting(
            doc = "fraction of the velocity that is kept from update to update, in [0, 1)",
            def = "0")
        double momentum,
    @Setting(
            doc = "divide by the standard deviation of gradients, not by their root mean square",
            def = "false")
        boolean centered,
    @Setting(doc = Rules.WEIGHT_DECAY, def = "0") double weightDecay,
    @Setting(doc = Rules.SCALE_LR, def = "none") LrScaling scaleLr,
    @Setting(doc = Rules.BASE_BATCH, def = "null") @Nullable Integer baseBatch)
    implements WeightDecayRule {

  /** Checks the settings. */
  public RmsProp {
    scaleLr
        .check(Rules.check(lr, weightDecay), baseBatch)
        .and(alpha >= 0 && alpha < 1, "alpha", "must be in [0, 1)", alpha)
        .and(eps > 0, "eps", "must be greater than 0", eps)
        .and(momentum >= 0 && momentum < 1, "momentum", "must be in [0, 1)", momentum)
        .orThrow();
  }

  /** Returns the rule without scaling of the rate. */
  public RmsProp(
      double lr, double alpha, double eps, double momentum, boolean centered, double weightDecay) {
    this(lr, alpha, eps, momentum, centered, weightDecay, LrScaling.NONE, null);
  }

  /** Returns the rule with its usual settings. */
  public RmsProp(double lr) {
    this(lr, 0.99, 1e-8, 0, false, 0);
  }

  @Override
  public OptionalInt numbersPerParameter() {
    return OptionalInt.of(kinds());
  }

  private int kinds() {
    return 1 + (centered ? 1 : 0) + (momentum > 0 ? 1 : 0);
  }

  @Override
  public Bound bind(List<ParameterGroup> groups) {
    return new ElementwiseRule(
        groups, kinds(), (piece, group, rate, _) -> updatePiece(piece, group, rate));
  }

  private void updatePiece(Piece piece, GroupValues group, double rate) {
    var gradient = ElementwiseRule.decayed(piece, group.weightDecay());
    var squares = piece.state(0);
    squares.mul_(new Scalar(alpha)).addcmul_(gradient, gradient, new Scalar(1 - alpha));
    var denominator = spread(piece, gradient, squares).add_(new Scalar(eps));
    if (momentum == 0) {
      piece.parameter().addcdiv_(gradient, denominator, new Scalar(-rate));
      return;
    }
    var velocity = piece.states().getLast();
    velocity.mul_(new Scalar(momentum)).addcdiv_(gradient, denominator, new Scalar(1.0));
    piece.parameter().add_(velocity, new Scalar(-rate));
  }

  private Tensor spread(Piece piece, Tensor gradient, Tensor squares) {
    if (!centered) {
      return squares.sqrt();
    }
    var mean = piece.state(1);
    mean.lerp_(gradient, new Scalar(1 - alpha));
    // Of gradients that do not change, rounding leaves less than nothing.
    return squares.addcmul(mean, mean, new Scalar(-1.0)).clamp_min_(new Scalar(0.0)).sqrt_();
  }
}
