package dev.flotilla.strategy.clip;

import dev.flotilla.settings.Check;
import dev.flotilla.settings.Remedy;
import dev.flotilla.settings.Setting;
import dev.flotilla.strategy.Strategy;
import dev.flotilla.strategy.StrategyChoice;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Which limit gradients have: that of their norm, or that of each of them.
 *
 * @param norm largest norm of the whole gradient; null where a value is stated
 * @param value largest absolute value of each element; null where a norm is stated
 */
@Remedy.Offer(value = Remedy.LIMITED_NORM, as = "%s: {norm: …}")
public record Clip(
    @Setting(doc = "largest norm of the whole gradient, > 0", insteadOf = "value")
        @Nullable Double norm,
    @Setting(
            doc = "largest absolute value of each element of the gradient, > 0",
            insteadOf = "norm")
        @Nullable Double value)
    implements StrategyChoice {

  /** Checks the settings. */
  public Clip {
    Check.that(norm == null || norm > 0, "norm", "must be greater than 0", String.valueOf(norm))
        .and(value == null || value > 0, "value", "must be greater than 0", String.valueOf(value))
        .and((norm == null) != (value == null), "", "must state norm or value", norm + ", " + value)
        .orThrow();
  }

  @Override
  public Optional<Strategy> chosen() {
    return Optional.of(norm == null ? new ClipByValue(limit()) : new ClipByNorm(norm));
  }

  private double limit() {
    return value == null ? 0 : value;
  }
}
