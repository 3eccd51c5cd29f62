package dev.flotilla.strategy.clip;

import dev.flotilla.exchange.GradientView;
import dev.flotilla.settings.Check;
import dev.flotilla.settings.Setting;
import dev.flotilla.step.Claim;
import dev.flotilla.step.Claim.GradientStage;
import dev.flotilla.step.Phase;
import dev.flotilla.step.StepContext;
import dev.flotilla.step.Workers;
import dev.flotilla.strategy.Property;
import dev.flotilla.strategy.Strategy;
import java.util.List;
import java.util.Set;

/**
 * Scales the gradient down when its norm over all parameters is too large (Pascanu et al., 2013).
 *
 * <p>g ← g · min(1, c / (‖g‖₂ + 10⁻⁶)), on the merged gradient after the exchange, as PyTorch's
 * clip_grad_norm_ does. Where ranks keep residuals, each clips its own gradient before the exchange
 * to c N^-½: the sum of N unrelated gradients of that norm has norm c.
 *
 * @param norm largest norm c
 */
public record ClipByNorm(@Setting(doc = "largest norm of the whole gradient, > 0") double norm)
    implements Strategy {

  private static final double EPSILON = 1e-6;

  /** Checks the settings. */
  public ClipByNorm {
    Check.that(norm > 0, "norm", "must be greater than 0", norm).orThrow();
  }

  @Override
  public String key() {
    return "clip";
  }

  @Override
  public List<Claim> claims() {
    return List.of(new Claim(Phase.REFINE, GradientStage.CLIP, "clip to norm " + norm));
  }

  @Override
  public Workers workers(StepContext context) {
    return new Workers().refine(GradientStage.CLIP, (gradients, _) -> clip(gradients));
  }

  @Override
  public Set<Property> properties() {
    return Set.of(Property.ONLY_SCALES_GRADIENTS);
  }

  private boolean clip(GradientView gradients) {
    double factor = gradients.limit(norm) / (gradients.norm() + EPSILON);
    if (factor < 1) {
      gradients.scale(factor);
    }
    return true;
  }
}
