package dev.flotilla.optim;

import dev.flotilla.settings.Setting;
import java.util.List;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/**
 * Adam with the decay outside the gradient (Loshchilov and Hutter, 2019).
 *
 * <p>w ← (1 − η λ) w; m ← β₁ m + (1 − β₁) g; v ← β₂ v + (1 − β₂) g²; w ← w − η m̂ / (√v̂ + ε),
 * where m̂ and v̂ are corrected for their start at zero.
 *
 * @param lr learning rate η
 * @param betas decay rates β₁, β₂ of the moments
 * @param eps added to the denominator
 * @param weightDecay decay λ; biases and norms are not decayed unless a name pattern says so
 * @param amsgrad whether v̂ is the largest so far (Reddi et al., 2018)
 * @param scaleLr how η grows with the batch
 * @param baseBatch the batch for which η was found, or null without scaling
 */
public record AdamW(
    @Setting(doc = Rules.LR) double lr,
    @Setting(doc = Rules.BETAS, def = "[0.9, 0.999]") List<Double> betas,
    @Setting(doc = "added to the denominator, > 0", def = "1e-8") double eps,
    @Setting(doc = Rules.WEIGHT_DECAY, def = "0.01") double weightDecay,
    @Setting(doc = "divide by the largest second moment so far", def = "false") boolean amsgrad,
    @Setting(doc = Rules.SCALE_LR, def = "none") LrScaling scaleLr,
    @Setting(doc = Rules.BASE_BATCH, def = "null") @Nullable Integer baseBatch)
    implements WeightDecayRule {

  /** Checks the settings. */
  public AdamW {
    betas = List.copyOf(betas);
    scaleLr.check(Rules.checkAdam(lr, betas, eps, weightDecay), baseBatch).orThrow();
  }

  /** Returns the rule without scaling of the rate. */
  public AdamW(double lr, List<Double> betas, double eps, double weightDecay) {
    this(lr, betas, eps, weightDecay, false, LrScaling.NONE, null);
  }

  /** Returns the rule with its usual settings. */
  public AdamW(double lr) {
    this(lr, List.of(0.9, 0.999), 1e-8, 0.01);
  }

  /** Returns the same with the largest second moment so far (AMSGrad). */
  public AdamW withAmsgrad() {
    return new AdamW(lr, betas, eps, weightDecay, true, scaleLr, baseBatch);
  }

  @Override
  public OptionalInt numbersPerParameter() {
    return OptionalInt.of(amsgrad ? 3 : 2);
  }

  @Override
  public boolean hasBetas() {
    return true;
  }

  @Override
  public Bound bind(List<ParameterGroup> groups) {
    return new AdamRule(true, betas, eps, amsgrad, groups);
  }
}
