package dev.flotilla.config;

import dev.flotilla.data.DataSource;
import dev.flotilla.metric.Metric;
import dev.flotilla.model.Model;
import dev.flotilla.model.Objective;
import dev.flotilla.optim.Optimizer;
import dev.flotilla.optim.Schedule;
import dev.flotilla.strategy.Strategy;
import java.util.Map;

/**
 * Adds names that a recipe may use; found with {@link java.util.ServiceLoader}.
 *
 * <p>Each class is a settings record. Naming a class loads neither libtorch nor the model.
 */
public interface CatalogueProvider {

  /** Returns models by the name that a recipe uses. */
  default Map<String, Class<? extends Model>> models() {
    return Map.of();
  }

  /** Returns objectives by the name that a recipe uses. */
  default Map<String, Class<? extends Objective>> objectives() {
    return Map.of();
  }

  /** Returns data sources by the name that a recipe uses. */
  default Map<String, Class<? extends DataSource>> data() {
    return Map.of();
  }

  /** Returns optimizers by the name that a recipe uses. */
  default Map<String, Class<? extends Optimizer>> optimizers() {
    return Map.of();
  }

  /** Returns learning-rate schedules by the name that a recipe uses. */
  default Map<String, Class<? extends Schedule>> schedules() {
    return Map.of();
  }

  /** Returns metrics by the name that a recipe uses. */
  default Map<String, Class<? extends Metric>> metrics() {
    return Map.of();
  }

  /** Returns techniques by the name that a recipe uses. */
  default Map<String, Class<? extends Strategy>> techniques() {
    return Map.of();
  }
}
