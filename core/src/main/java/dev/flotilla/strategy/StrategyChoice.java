package dev.flotilla.strategy;

import java.util.Optional;

/**
 * What a recipe says under a key of its own instead of under {@code strategy}: settings, or a word,
 * that stand for a technique or for none.
 */
public interface StrategyChoice {

  /** Returns the technique that is chosen. */
  Optional<Strategy> chosen();
}
