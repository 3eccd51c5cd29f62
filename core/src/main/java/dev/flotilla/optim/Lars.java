package dev.flotilla.optim;

import dev.flotilla.optim.LayerwiseRule.Norms;
import dev.flotilla.optim.Packed.Piece;
import dev.flotilla.settings.Setting;
import java.util.List;
import java.util.OptionalInt;
import org.bytedeco.pytorch.Scalar;
import org.bytedeco.pytorch.Tensor;
import org.jspecify.annotations.Nullable;

/**
 * LARS: momentum whose gradient is as long as each parameter's norm allows (You, Gitman and
 * Ginsburg, 2017).
 *
 * <p>d ← τ ‖w‖ / (‖g‖ + λ ‖w‖ + ε) (g + λ w), with the norms of each parameter, over all ranks that
 * hold slices of it; u ← m u + d; w ← w − η u, or with Nesterov w ← w − η (d + m u). Where a norm
 * is 0 the ratio is 1, and so it is for parameters without decay (biases and norms) unless they are
 * always adapted, as in timm and APEX.
 *
 * @param lr learning rate η
 * @param momentum factor m
 * @param nesterov whether to look ahead
 * @param trustCoefficient factor τ of the ratio
 * @param eps added to the ratio's denominator
 * @param weightDecay decay λ; biases and norms are not decayed unless a name pattern says so
 * @param trustClip whether η times the ratio is at most η, as LARC has it
 * @param alwaysAdapt whether parameters without decay have a ratio too
 * @param scaleLr how η grows with the batch
 * @param baseBatch the batch for which η was found, or null without scaling
 */
public record Lars(
    @Setting(doc = Rules.LR) double lr,
    @Setting(
            doc = "fraction of the velocity that is kept from update to update, in [0, 1)",
            def = "0.9")
        double momentum,
    @Setting(doc = "use Nesterov's momentum, which looks ahead along the velocity", def = "false")
        boolean nesterov,
    @Setting(doc = "factor of the trust ratio, > 0", def = "0.001") double trustCoefficient,
    @Setting(doc = "added to the trust ratio's denominator, > 0", def = "1e-8") double eps,
    @Setting(doc = Rules.WEIGHT_DECAY, def = "0") double weightDecay,
    @Setting(doc = "let no parameter have a higher learning rate than lr", def = "false")
        boolean trustClip,
    @Setting(doc = "use the trust ratio for parameters without weight decay too", def = "false")
        boolean alwaysAdapt,
    @Setting(doc = Rules.SCALE_LR, def = "none") LrScaling scaleLr,
    @Setting(doc = Rules.BASE_BATCH, def = "null") @Nullable Integer baseBatch)
    implements WeightDecayRule {

  /** Checks the settings. */
  public Lars {
    scaleLr
        .check(Rules.check(lr, weightDecay), baseBatch)
        .and(momentum >= 0 && momentum < 1, "momentum", "must be in [0, 1)", momentum)
        .and(!nesterov || momentum > 0, "nesterov", "needs a momentum greater than 0", momentum)
        .and(trustCoefficient > 0, "trust_coefficient", "must be greater than 0", trustCoefficient)
        .and(eps > 0, "eps", "must be greater than 0", eps)
        .and(
            weightDecay > 0 || alwaysAdapt,
            "weight_decay",
            "must be greater than 0, or always_adapt true: without either no parameter is adapted",
            weightDecay)
        .orThrow();
  }

  /** Returns the rule without scaling of the rate. */
  public Lars(
      double lr,
      double momentum,
      boolean nesterov,
      double trustCoefficient,
      double eps,
      double weightDecay,
      boolean trustClip,
      boolean alwaysAdapt) {
    this(
        lr,
        momentum,
        nesterov,
        trustCoefficient,
        eps,
        weightDecay,
        trustClip,
        alwaysAdapt,
        LrScaling.NONE,
        null);
  }

  /** Returns the rule with its usual settings. */
  public Lars(double lr, double weightDecay) {
    this(lr, 0.9, false, 0.001, 1e-8, weightDecay, false, false);
  }

  @Override
  public OptionalInt numbersPerParameter() {
    return OptionalInt.of(kinds());
  }

  private int kinds() {
    return momentum == 0 ? 0 : 1;
  }

  @Override
  public Bound bind(List<ParameterGroup> groups) {
    return bind(groups, SumOverRanks.none());
  }

  @Override
  public Bound bind(List<ParameterGroup> groups, SumOverRanks ranks) {
    return new LayerwiseRule(groups, kinds(), alwaysAdapt, new Formula(), ranks);
  }

  private final class Formula implements LayerwiseRule.Formula {

    @Override
    public Tensor measured(Piece piece, GroupValues group, long update) {
      return piece.gradient();
    }

    @Override
    public Tensor ratio(Norms norms, GroupValues group, double rate) {
      var weights = norms.parameters();
      var denominator =
          norms.measured().add(weights, new Scalar(group.weightDecay())).add_(new Scalar(eps));
      var ratio = norms.oneWhereZero(weights.mul(new Scalar(trustCoefficient)).div_(denominator));
      return trustClip ? ratio.div_(new Scalar(rate)).clamp_max_(new Scalar(1.0)) : ratio;
    }

    @Override
    public void apply(
        Piece piece, @Nullable Tensor ratio, GroupValues group, double rate, long update) {
      var step = ElementwiseRule.decayed(piece, group.weightDecay());
      step = ratio == null ? step : step.mul(ratio);
      if (momentum > 0) {
        var velocity = piece.state(0);
        velocity.mul_(new Scalar(momentum)).add_(step, new Scalar(1.0));
        step = nesterov ? step.add(velocity, new Scalar(momentum)) : velocity;
      }
      piece.parameter().add_(step, new Scalar(-rate));
    }
  }
}
