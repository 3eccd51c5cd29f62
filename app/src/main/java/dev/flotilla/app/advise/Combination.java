package dev.flotilla.app.advise;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Techniques that are tried together.
 *
 * @param name for people
 * @param strategy the recipe's key {@code strategy}, without what the recipe has besides
 * @param micro micro-steps that the recipe's batch is divided into
 * @param overlap what of the exchange lies behind computing
 * @param change what it changes in the mathematics; empty for nothing
 */
public record Combination(
    String name, Map<String, Object> strategy, int micro, Overlap overlap, String change) {

  /** Copies the map. */
  public Combination {
    strategy = java.util.Collections.unmodifiableMap(new LinkedHashMap<>(strategy));
  }

  /** Tells whether training is the same as by the recipe without techniques. */
  public boolean isExact() {
    return change.isEmpty();
  }

  /** Returns how many updates belong together: local SGD averages only after several. */
  public int period() {
    return strategy.get("localsgd") instanceof Map<?, ?> settings
            && settings.get("k_steps") instanceof Integer steps
        ? steps
        : 4;
  }
}
