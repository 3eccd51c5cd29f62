package dev.flotilla.strategy.clip;

import dev.flotilla.settings.Check;
import dev.flotilla.settings.Setting;
import dev.flotilla.step.Claim;
import dev.flotilla.step.Claim.GradientStage;
import dev.flotilla.step.GradientFilter;
import dev.flotilla.step.Phase;
import dev.flotilla.step.StepContext;
import dev.flotilla.step.Workers;
import dev.flotilla.strategy.Strategy;
import java.util.List;

/**
 * Limits each element of the gradient by itself.
 *
 * <p>g ← min(max(g, −c), c), on the merged gradient after the exchange, as PyTorch's
 * clip_grad_value_ does. It changes the gradient's direction, so a rank cannot do it to its part of
 * a sum, and an exchange that keeps residuals refuses it.
 *
 * @param value largest absolute value c
 */
public record ClipByValue(
    @Setting(doc = "largest absolute value of each element, > 0") double value)
    implements Strategy {

  /** Checks the settings. */
  public ClipByValue {
    Check.that(value > 0, "value", "must be greater than 0", value).orThrow();
  }

  @Override
  public String key() {
    return "clip";
  }

  @Override
  public List<Claim> claims() {
    return List.of(new Claim(Phase.REFINE, GradientStage.CLIP, "clip each element to " + value));
  }

  @Override
  public Workers workers(StepContext context) {
    return new Workers()
        .refine(
            GradientStage.CLIP, GradientFilter.Late.of(gradients -> gradients.limitEach(value)));
  }
}
