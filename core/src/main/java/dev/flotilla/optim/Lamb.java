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
 * LAMB: Adam whose step is as long as each parameter's norm allows (You et al., 2020).
 *
 * <p>m and v as Adam's; u ← m̂ / (√v̂ + ε) + λ w; w ← w − η ‖w‖ / ‖u‖ u, with the norms of each
 * parameter, over all ranks that hold slices of it. Where a norm is 0 the ratio is 1, and so it is
 * for parameters without decay (biases and norms) unless they are always adapted, as in timm and
 * APEX. Limit the gradient's norm with {@code clip}.
 *
 * @param lr learning rate η
 * @param betas decay rates β₁, β₂ of the moments
 * @param eps added to the denominator
 * @param weightDecay decay λ; biases and norms are not decayed unless a name pattern says so
 * @param trustClip whether the ratio is at most 1
 * @param alwaysAdapt whether parameters without decay have a ratio too
 * @param scaleLr how η grows with the batch
 * @param baseBatch the batch for which η was found, or null without scaling
 */
public record Lamb(
    @Setting(doc = Rules.LR) double lr,
    @Setting(doc = Rules.BETAS, def = "[0.9, 0.999]") List<Double> betas,
    @Setting(doc = "added to the denominator, > 0", def = "1e-6") double eps,
    @Setting(doc = Rules.WEIGHT_DECAY, def = "0.01") double weightDecay,
    @Setting(doc = "limit the trust ratio to 1", def = "false") boolean trustClip,
    @Setting(doc = "use the trust ratio for parameters without weight decay too", def = "false")
        boolean alwaysAdapt,
    @Setting(doc = Rules.SCALE_LR, def = "none") LrScaling scaleLr,
    @Setting(doc = Rules.BASE_BATCH, def = "null") @Nullable Integer baseBatch)
    implements WeightDecayRule {

  /** Checks the settings. */
  public Lamb {
    betas = List.copyOf(betas);
    scaleLr.check(Rules.checkAdam(lr, betas, eps, weightDecay), baseBatch).orThrow();
  }

  /** Returns the rule without scaling of the rate. */
  public Lamb(
      double lr,
      List<Double> betas,
      double eps,
      double weightDecay,
      boolean trustClip,
      boolean alwaysAdapt) {
    this(lr, betas, eps, weightDecay, trustClip, alwaysAdapt, LrScaling.NONE, null);
  }

  /** Returns the rule with its usual settings. */
  public Lamb(double lr) {
    this(lr, List.of(0.9, 0.999), 1e-6, 0.01, false, false);
  }

  @Override
  public OptionalInt numbersPerParameter() {
    return OptionalInt.of(2);
  }

  @Override
  public boolean hasBetas() {
    return true;
  }

  @Override
  public Bound bind(List<ParameterGroup> groups) {
    return bind(groups, SumOverRanks.none());
  }

  @Override
  public Bound bind(List<ParameterGroup> groups, SumOverRanks ranks) {
    return new LayerwiseRule(groups, 2, alwaysAdapt, new Formula(), ranks);
  }

  private final class Formula implements LayerwiseRule.Formula {

    @Override
    public void prepare(Piece piece, GroupValues group) {
      var rates = group.betasOr(betas);
      var gradient = piece.gradient();
      piece.state(0).mul_(new Scalar(rates.get(0))).add_(gradient, new Scalar(1 - rates.get(0)));
      piece
          .state(1)
          .mul_(new Scalar(rates.get(1)))
          .addcmul_(gradient, gradient, new Scalar(1 - rates.get(1)));
    }

    @Override
    public Tensor measured(Piece piece, GroupValues group, long update) {
      var rates = group.betasOr(betas);
      double first = 1 - Math.pow(rates.get(0), update);
      double second = 1 - Math.pow(rates.get(1), update);
      var denominator =
          piece.state(1).sqrt().div_(new Scalar(Math.sqrt(second))).add_(new Scalar(eps));
      var direction = piece.state(0).div(new Scalar(first)).div_(denominator);
      return group.weightDecay() == 0
          ? direction
          : direction.add_(piece.parameter(), new Scalar(group.weightDecay()));
    }

    @Override
    public Tensor ratio(Norms norms, GroupValues group, double rate) {
      var ratio = norms.parameters().div(norms.measured());
      return trustClip
          ? norms.oneWhereZero(ratio).clamp_max_(new Scalar(1.0))
          : norms.oneWhereZero(ratio);
    }

    @Override
    public void apply(
        Piece piece, @Nullable Tensor ratio, GroupValues group, double rate, long update) {
      var direction = measured(piece, group, update);
      piece.parameter().add_(ratio == null ? direction : direction.mul_(ratio), new Scalar(-rate));
    }
  }
}
