package dev.flotilla.strategy.precision;

import dev.flotilla.memory.Precision;
import dev.flotilla.settings.Check;
import dev.flotilla.settings.Remedy;
import dev.flotilla.settings.Setting;
import dev.flotilla.step.Claim;
import dev.flotilla.step.Claim.ForwardStage;
import dev.flotilla.step.Claim.GradientStage;
import dev.flotilla.step.Phase;
import dev.flotilla.step.StepContext;
import dev.flotilla.step.Workers;
import dev.flotilla.strategy.PlanFacts;
import dev.flotilla.strategy.PlanIssue;
import dev.flotilla.strategy.Property;
import dev.flotilla.strategy.Strategy;
import dev.flotilla.wire.Dtype;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * Computes in 16 bits what libtorch holds safe, with parameters, gradients and optimizer in float32
 * (Micikevicius et al., 2017, "Mixed Precision Training").
 *
 * <p>fp16 loses gradients below 6·10⁻⁸, so backward starts from s / c₀ instead of 1, with s the
 * loss scale and c₀ the window's number of loss terms as a power of two, and the sum is multiplied
 * by c₀ / s once, after the exchange. A window with an infinite or undefined gradient updates
 * nothing on any rank: no parameter, momentum, schedule or counter moves. bf16 has the range of
 * float32 and needs none of this.
 *
 * @param dtype the number type
 * @param initLossScaling s at the start
 * @param incrEveryNSteps good windows in a row after which s grows
 * @param decrEveryNNanOrInf bad windows in a row after which s shrinks
 * @param incrRatio s grows by this factor
 * @param decrRatio s shrinks by this factor, but never below 1
 * @param useDynamicLossScaling whether s changes at all
 */
@Remedy.Offer(Remedy.FEWER_SAVED_TENSORS)
@Remedy.Offer(value = Remedy.BF16_FORWARD, as = "%s: {dtype: bf16}")
public record MixedPrecision(
    @Setting(
            doc = "type that products are computed in: bf16, or fp16 with a loss scale",
            def = "bf16",
            words = {"bf16", "fp16"})
        Dtype dtype,
    @Setting(doc = "fp16: the loss scale at the start, at least 1", def = "32768")
        double initLossScaling,
    @Setting(doc = "fp16: good updates in a row before the scale grows", def = "1000")
        int incrEveryNSteps,
    @Setting(doc = "fp16: overflows in a row before the scale shrinks", def = "2")
        int decrEveryNNanOrInf,
    @Setting(doc = "fp16: factor by which the scale grows, greater than 1", def = "2.0")
        double incrRatio,
    @Setting(doc = "fp16: factor by which the scale shrinks, in (0, 1)", def = "0.8")
        double decrRatio,
    @Setting(doc = "fp16: whether the scale changes", def = "true") boolean useDynamicLossScaling)
    implements Strategy {

  private static final MixedPrecision DEFAULTS = new MixedPrecision(Dtype.BF16);

  /** Checks the settings. */
  public MixedPrecision {
    Check.that(dtype.isHalf(), "dtype", "must be bf16 or fp16", dtype.word())
        .and(
            initLossScaling >= 1 && Double.isFinite(initLossScaling),
            "init_loss_scaling",
            "must be at least 1",
            initLossScaling)
        .and(incrEveryNSteps >= 1, "incr_every_n_steps", "must be at least 1", incrEveryNSteps)
        .and(
            decrEveryNNanOrInf >= 1,
            "decr_every_n_nan_or_inf",
            "must be at least 1",
            decrEveryNNanOrInf)
        .and(
            incrRatio > 1 && Double.isFinite(incrRatio),
            "incr_ratio",
            "must be greater than 1",
            incrRatio)
        .and(decrRatio > 0 && decrRatio < 1, "decr_ratio", "must be in (0, 1)", decrRatio)
        .orThrow();
  }

  /** Computes in a type with the usual loss scale. */
  public MixedPrecision(Dtype dtype) {
    this(dtype, 32768, 1000, 2, 2.0, 0.8, true);
  }

  @Override
  public String key() {
    return "amp";
  }

  @Override
  public List<Claim> claims() {
    if (dtype == Dtype.BF16) {
      return List.of(
          new Claim(
              ForwardStage.PRECISION,
              "compute in bf16, with float32 sums; its range needs no loss scale"));
    }
    return List.of(
        new Claim(ForwardStage.PRECISION, "compute in fp16, parameters in float32"),
        new Claim(Phase.CONDITION, GradientStage.UNSCALE, "agree on the scale of the first window"),
        new Claim(Phase.REFINE, GradientStage.UNSCALE, "undo the loss scale"),
        new Claim(Phase.REFINE, GradientStage.VOTE, "skip the update on overflow"));
  }

  @Override
  public Workers workers(StepContext context) {
    var device = context.model().device();
    if (dtype == Dtype.BF16) {
      return new Workers()
          .forward(ForwardStage.PRECISION, inner -> new HalfPass(inner, dtype, null, device));
    }
    HalfSupport.require(dtype, device);
    var scale = new LossScale(this, context);
    return new Workers()
        .forward(ForwardStage.PRECISION, inner -> new HalfPass(inner, dtype, scale, device))
        .condition(GradientStage.UNSCALE, scale.agreeing())
        .refine(GradientStage.UNSCALE, scale.unscaling())
        .refine(GradientStage.VOTE, scale.voting());
  }

  @Override
  public Set<Property> properties() {
    return dtype == Dtype.BF16
        ? Set.of(
            Property.ONLY_SCALES_GRADIENTS,
            Property.CONDITIONS_MICRO_STEPS,
            Property.COMPUTES_IN_BF16)
        : Set.of(Property.ONLY_SCALES_GRADIENTS, Property.CONDITIONS_MICRO_STEPS);
  }

  @Override
  public List<PlanIssue> issues(PlanFacts facts) {
    List<PlanIssue> issues = new ArrayList<>();
    if (facts.layout().precision() == Precision.FLOAT64) {
      issues.add(
          PlanIssue.error(
              "amp computes in 16 bits, but precision is float64", "remove one of them"));
    }
    if (dtype == Dtype.BF16 && !equals(DEFAULTS)) {
      issues.add(
          PlanIssue.warning(
              "amp with bf16 needs no loss scale, so its settings have no effect",
              "remove them, or set dtype: fp16"));
    }
    return issues;
  }
}
