package dev.flotilla.config;

import dev.flotilla.data.DataSource;
import dev.flotilla.data.Dataset;
import dev.flotilla.model.Model;
import dev.flotilla.model.Objective;
import dev.flotilla.model.Segment;
import dev.flotilla.optim.Optimizer;
import dev.flotilla.optim.ParameterGroup;
import dev.flotilla.optim.Schedule;
import dev.flotilla.settings.Check;
import dev.flotilla.settings.ConfigException;
import dev.flotilla.settings.Setting;
import dev.flotilla.step.Claim;
import dev.flotilla.strategy.Strategy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** Settings records that stand for the real ones. */
final class TestCatalogue implements CatalogueProvider {

  static Catalogue catalogue() {
    return Catalogue.of(List.of(new TestCatalogue()));
  }

  static RunConfig read(String text, String... sets) {
    var changes = List.of(sets).stream().map(Change::set).toList();
    return RunConfig.read(Recipe.parse("recipe.yaml", text).overlay(changes), catalogue());
  }

  /** Tests of recipes never run a model. */
  interface FakeModel extends Model {
    @Override
    default String name() {
      return "fake";
    }

    @Override
    default List<Segment> segments() {
      return List.of();
    }

    @Override
    default Objective objective() {
      throw new UnsupportedOperationException();
    }
  }

  /** Tests of recipes never update a parameter. */
  interface FakeOptimizer extends Optimizer {
    @Override
    default double weightDecay() {
      return 0;
    }

    @Override
    default Bound bind(List<ParameterGroup> groups) {
      throw new UnsupportedOperationException();
    }
  }

  /** Tests of recipes never ask for a rate. */
  interface FakeSchedule extends Schedule {
    @Override
    default double factorAfterWarmup(double progress, long update) {
      throw new UnsupportedOperationException();
    }
  }

  /** Tests of recipes never plan a step. */
  interface FakeStrategy extends Strategy {
    @Override
    default String key() {
      return getClass().getSimpleName();
    }

    @Override
    default List<Claim> claims() {
      return List.of();
    }
  }

  record Lenet(@Setting(doc = "Number of classes.", def = "10") int classes) implements FakeModel {
    Lenet {
      Check.that(classes >= 2, "classes", "must be at least 2", classes).orThrow();
    }
  }

  record Mlp(
      @Setting(doc = "Widths of the hidden layers.", def = "[128, 64]") List<Integer> hidden,
      @Setting(doc = "Fraction of activations dropped.", def = "0.0") double dropout)
      implements FakeModel {}

  record Digits() implements DataSource {
    @Override
    public void check() {}

    @Override
    public Dataset train() {
      throw new UnsupportedOperationException();
    }

    @Override
    public Dataset test() {
      throw new UnsupportedOperationException();
    }
  }

  record Mnist(@Setting(doc = "Folder of IDX files.") Path path) implements DataSource {
    @Override
    public void check() {
      if (!Files.isDirectory(path)) {
        throw new ConfigException("path", "there is no folder " + path);
      }
    }

    @Override
    public Dataset train() {
      throw new UnsupportedOperationException();
    }

    @Override
    public Dataset test() {
      throw new UnsupportedOperationException();
    }
  }

  record Sgd(@Setting(doc = "Learning rate.") double lr) implements FakeOptimizer {
    Sgd {
      Check.that(lr > 0, "lr", "must be greater than 0", lr).orThrow();
    }
  }

  record Momentum(
      @Setting(doc = "Learning rate.", def = "0.05") double lr,
      @Setting(doc = "Fraction of the velocity kept.", def = "0.9") double momentum,
      @Setting(doc = "Whether to look ahead.", def = "false") boolean nesterov)
      implements FakeOptimizer {
    Momentum {
      Check.that(lr > 0, "lr", "must be greater than 0", lr)
          .and(momentum >= 0 && momentum < 1, "momentum", "must be in [0, 1)", momentum)
          .orThrow();
    }
  }

  record Adam(
      @Setting(doc = "Learning rate.", def = "0.001") double lr,
      @Setting(doc = "Decay of the moments.", def = "[0.9, 0.999]") List<Double> betas,
      @Setting(doc = "Added to the divisor.", def = "1e-8") double eps,
      @Setting(doc = "Weight decay.", def = "0.0") double weightDecay)
      implements FakeOptimizer {
    Adam {
      Check.that(lr > 0, "lr", "must be greater than 0", lr)
          .and(betas.size() == 2, "betas", "must be two numbers", betas)
          .and(weightDecay >= 0, "weight_decay", "must be at least 0", weightDecay)
          .orThrow();
    }
  }

  record Constant(@Setting(doc = "Updates of warm-up.", def = "0") long warmupSteps)
      implements FakeSchedule {}

  record Cosine(
      @Setting(doc = "Updates of warm-up.", def = "0") long warmupSteps,
      @Setting(doc = "Lowest fraction of the learning rate.", def = "0.0") double floor)
      implements FakeSchedule {}

  record GradientMerge(
      @Setting(doc = "Micro-steps per update.", def = "1") int kSteps,
      @Setting(doc = "Whether to divide by the micro-steps.", def = "true") boolean avg)
      implements FakeStrategy {
    GradientMerge {
      Check.that(kSteps >= 1, "k_steps", "must be at least 1", kSteps).orThrow();
    }
  }

  record Recompute() implements FakeStrategy {}

  @Override
  public Map<String, Class<? extends Model>> models() {
    return Map.of("lenet5", Lenet.class, "mlp", Mlp.class);
  }

  @Override
  public Map<String, Class<? extends DataSource>> data() {
    return Map.of("digits", Digits.class, "mnist", Mnist.class);
  }

  @Override
  public Map<String, Class<? extends Optimizer>> optimizers() {
    return Map.of("sgd", Sgd.class, "momentum", Momentum.class, "adam", Adam.class);
  }

  @Override
  public Map<String, Class<? extends Schedule>> schedules() {
    return Map.of("constant", Constant.class, "cosine", Cosine.class);
  }

  @Override
  public Map<String, Class<? extends Strategy>> techniques() {
    return Map.of("gradient_merge", GradientMerge.class, "recompute", Recompute.class);
  }
}
