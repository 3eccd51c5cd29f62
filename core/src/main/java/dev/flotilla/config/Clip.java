package dev.flotilla.config;

import dev.flotilla.settings.Check;
import dev.flotilla.settings.Setting;

/**
 * Limits the gradient: g ← g · min(1, norm / ‖g‖₂), over all parameters together.
 *
 * @param norm the greatest norm, in the units of the gradient
 */
public record Clip(@Setting(doc = "Greatest norm of the whole gradient.") double norm) {

  /** Checks the norm. */
  public Clip {
    Check.that(norm > 0, "norm", "must be greater than 0", norm).orThrow();
  }
}
