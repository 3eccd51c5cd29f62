package dev.flotilla.strategy.localsgd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.flotilla.config.ConfiguredRun;
import dev.flotilla.config.RunConfig;
import dev.flotilla.optim.Optimizer;
import dev.flotilla.optim.Sgd;
import dev.flotilla.optim.TorchOptimizer;
import dev.flotilla.settings.ConfigException;
import dev.flotilla.step.Claim;
import dev.flotilla.step.Phase;
import dev.flotilla.strategy.PlanRejectedException;
import dev.flotilla.strategy.Property;
import dev.flotilla.strategy.StepPlanner;
import dev.flotilla.strategy.Strategy;
import dev.flotilla.strategy.compress.Dgc;
import dev.flotilla.strategy.fusion.FuseAllReduce;
import dev.flotilla.train.NonFinite;
import dev.flotilla.train.Trainer;
import dev.flotilla.wire.Dtype;
import dev.flotilla.world.Rendezvous;
import dev.flotilla.world.World;
import dev.flotilla.zoo.model.Mlp;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What is refused before anything starts, and what the plan says. */
class LocalSgdPlanTests {

  private static final World TWO =
      new World(0, 2, 0, 2, 0, 1, new Rendezvous.SharedFile(Path.of("never-used")));

  @TempDir Path folder;

  private RunConfig read(String strategy, String more) throws IOException {
    var recipe = folder.resolve("recipe.yaml");
    Files.writeString(
        recipe,
        """
        model: lenet5
        data: digits
        batch: 8
        optimizer: {name: momentum, lr: 0.1}
        %s
        strategy: {%s}
        """
            .formatted(more, strategy));
    return RunConfig.read(recipe, List.of());
  }

  private StepPlanner.Plan plan(World world, String strategy, String more) throws IOException {
    return new ConfiguredRun(read(strategy, more), world).plan();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "localsgd: {k_steps: 0} | localsgd.k_steps: must be at least 1, but was 0",
        "localsgd: {begin_step: -1} | localsgd.begin_step: must be at least 0, but was -1",
        "localsgd: {momentum: none} | must be one of local, average, reset, but was 'none'",
        "localsgd: {wire: int2} | must be one of fp32, bf16, fp16, int8, int4, but was 'int2'",
        "localsgd: {outer: {name: adam}} | must be one of sgd, nesterov, but was 'adam'",
        "localsgd: {outer: {lr: 0}} | localsgd.outer.lr: must be greater than 0, but was 0",
        "localsgd: {outer: {momentum: 1}} | outer.momentum: must be in [0, 1), but was 1",
        "localsgd: {k_step: 4} | localsgd.k_step: unknown key; did you mean 'k_steps'?",
        "adaptive_localsgd: {init_k_steps: 17} | must be from 1 to max_k_steps 16, but was 17",
        "adaptive_localsgd: {max_k_steps: 0} | max_k_steps: must be at least 1, but was 0",
        "adaptive_localsgd: {rule: adacom} | must be one of fleet, adacomm, but was 'adacom'",
        "adaptive_localsgd: {shrink: 1} | shrink: must be in (0, 1), but was 1",
        "adaptive_localsgd: {adapt_every: 0} | adapt_every: must be at least 1, but was 0",
      })
  void badValuesAreRefusedWithTheirPlace(String strategy, String message) {
    assertThatThrownBy(() -> read(strategy, ""))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining("recipe.yaml:6")
        .hasMessageContaining(message);
  }

  @Test
  void fixedAndAdaptiveIntervalsTogetherAreRefused() {
    assertThatThrownBy(() -> plan(TWO, "localsgd: {k_steps: 4}, adaptive_localsgd: {}", ""))
        .isInstanceOf(PlanRejectedException.class)
        .hasMessageContaining("adaptive_localsgd and localsgd both decide the phase SYNC");
  }

  @ParameterizedTest
  @ValueSource(strings = {"dgc: {}", "fuse_all_reduce: {}"})
  void installedTechniquesThatContradictItAreRefused(String other) {
    assertThatThrownBy(() -> plan(TWO, "localsgd: {k_steps: 4}, " + other, ""))
        .isInstanceOf(PlanRejectedException.class)
        .hasMessageContaining("contradict each other: ranks update on their own");
  }

  static Stream<Strategy> contradicting() {
    return Stream.of(new Dgc(), new FuseAllReduce(), new Sharded());
  }

  @ParameterizedTest
  @MethodSource("contradicting")
  void techniquesThatContradictItAreRefusedWithTheReason(Strategy other) {
    var builder =
        Trainer.on(TWO)
            .model(new Mlp(8, List.of(4), 2))
            .optimizer(new Sgd(0.1))
            .strategy(new LocalSgd(4), other);
    assertThatThrownBy(builder::plan)
        .isInstanceOf(PlanRejectedException.class)
        .hasMessageContaining(
            "localsgd and %s contradict each other: ranks update on their own between averages, and"
                .formatted(other.key()))
        .hasMessageContaining(other.contradicts().get(Property.LETS_RANKS_DIFFER))
        .hasMessageContaining("remove one of them");
  }

  private record Sharded() implements Strategy {

    @Override
    public String key() {
      return "sharding";
    }

    @Override
    public List<Claim> claims() {
      return List.of();
    }

    @Override
    public Map<Property, String> contradicts() {
      return Map.of(
          Property.LETS_RANKS_DIFFER,
          "a rank that holds a shard needs all ranks to agree at all times");
    }
  }

  @Test
  void pooledBatchNormIsRefused() {
    assertThatThrownBy(() -> plan(TWO, "localsgd: {k_steps: 4}", "batch_norm: sync"))
        .isInstanceOf(PlanRejectedException.class)
        .hasMessageContaining("localsgd and batch_norm contradict each other");
  }

  @Test
  void goingBackToACheckpointOnOneRankIsRefused() {
    var builder =
        Trainer.on(TWO)
            .model(new Mlp(8, List.of(4), 2))
            .optimizer(new Sgd(0.1))
            .nonFinite(NonFinite.ROLLBACK)
            .strategy(new LocalSgd(4));
    assertThatThrownBy(builder::plan)
        .isInstanceOf(PlanRejectedException.class)
        .hasMessageContaining("non_finite: rollback")
        .hasMessageContaining("use non_finite: skip or stop");
  }

  @Test
  void anOptimizerThatHidesItsMemoryCannotHaveItAveraged() {
    Optimizer hidden =
        new TorchOptimizer(
            0.1,
            0,
            (_, _) -> {
              throw new UnsupportedOperationException();
            });
    var builder =
        Trainer.on(TWO)
            .model(new Mlp(8, List.of(4), 2))
            .optimizer(hidden)
            .strategy(
                new LocalSgd(
                    4, 1, MomentumPolicy.AVERAGE, Dtype.FP32, false, AveragingGroup.RANK, null));
    assertThatThrownBy(builder::plan).hasMessageContaining("a TorchOptimizer does not hand out");
  }

  @Test
  void oneRankIsWarnedOnce() throws IOException {
    var plan = plan(World.solo(), "localsgd: {k_steps: 4}", "");
    assertThat(plan.warnings())
        .singleElement()
        .hasToString("localsgd has no effect on one rank (remove it)");
  }

  @Test
  void thePlanSaysWhatHappens() throws IOException {
    var strategy =
        "localsgd: {k_steps: 50, begin_step: 100, wire: int4, overlap: true, outer: {lr: 0.5}}";
    var plan = plan(TWO, strategy, "").step();
    assertThat(plan.describe(Phase.EXCHANGE)).isEqualTo("none: each rank's gradients are its own");
    assertThat(plan.describe(Phase.SYNC))
        .isEqualTo(
            "outer nesterov step every 50 updates, at each of the first 100, int4 on the wire, one"
                + " round late");
    var hosts = plan(TWO, "adaptive_localsgd: {init_k_steps: 4, group: host}", "").step();
    assertThat(hosts.describe(Phase.EXCHANGE)).isEqualTo("dense mean, inside each host");
    assertThat(hosts.describe(Phase.SYNC)).isEqualTo("average parameters every 1 to 16 updates");
  }
}
