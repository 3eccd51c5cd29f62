package dev.flotilla.strategy.clip;

import dev.flotilla.arena.Gradients;
import dev.flotilla.engine.Claim;
import dev.flotilla.engine.Claim.GradientStage;
import dev.flotilla.settings.Check;
import dev.flotilla.settings.Setting;
import dev.flotilla.strategy.Strategy;
import java.util.List;

/**
 * Scales the gradient down when its norm over all parameters is too large (Pascanu et al., 2013).
 *
 * <p>g ← g · min(1, c / (‖g‖₂ + 10⁻⁶)), on the merged gradient after the exchange, as PyTorch's
 * clip_grad_norm_ does.
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
            GradientStage.CLIP, "clip to norm " + norm, _ -> (gradients, _) -> clip(gradients)));
  }

  private boolean clip(Gradients gradients) {
    double factor = norm / (gradients.norm() + EPSILON);
    if (factor < 1) {
      gradients.scale(factor);
    }
    return true;
  }
}
