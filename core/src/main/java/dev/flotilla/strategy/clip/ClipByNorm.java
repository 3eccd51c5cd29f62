package dev.flotilla.strategy.clip;

import dev.flotilla.arena.Gradients;
import dev.flotilla.settings.Check;
import dev.flotilla.settings.Setting;
import dev.flotilla.step.Claim;
import dev.flotilla.step.Claim.GradientStage;
import dev.flotilla.strategy.Strategy;
import java.util.List;

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
    return List.of(
        new Claim.Refine(
            GradientStage.CLIP,
            "clip to norm " + norm,
            true,
            context -> (gradients, _) -> clip(gradients, context.collective().size())));
  }

  private boolean clip(Gradients gradients, int ranks) {
    double limit = gradients.isOwn() ? norm / Math.sqrt(ranks) : norm;
    double factor = limit / (gradients.norm() + EPSILON);
    if (factor < 1) {
      gradients.scale(factor);
    }
    return true;
  }
}
