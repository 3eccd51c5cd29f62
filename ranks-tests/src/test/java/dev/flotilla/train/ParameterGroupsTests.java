package dev.flotilla.train;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.flotilla.config.Catalogue;
import dev.flotilla.config.Recipe;
import dev.flotilla.config.RunConfig;
import dev.flotilla.memory.Precision;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.model.BinaryCrossEntropy;
import dev.flotilla.model.CrossEntropy;
import dev.flotilla.model.HuberLoss;
import dev.flotilla.model.WeightedSum;
import dev.flotilla.optim.AdamW;
import dev.flotilla.optim.GroupSettings;
import dev.flotilla.optim.Optimizer;
import dev.flotilla.optim.Sgd;
import dev.flotilla.settings.ConfigException;
import dev.flotilla.strategy.PlanRejectedException;
import dev.flotilla.strategy.Strategy;
import dev.flotilla.strategy.clip.ClipByNorm;
import dev.flotilla.strategy.compress.Dgc;
import dev.flotilla.strategy.shard.Sharding;
import dev.flotilla.testkit.ColouredPoints;
import dev.flotilla.testkit.Ranks;
import dev.flotilla.testkit.Snapshot;
import dev.flotilla.world.Rendezvous;
import dev.flotilla.world.World;
import dev.flotilla.zoo.model.Mlp;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Groups of parameters in a training: rates by name and by layer, over ranks, saved. */
class ParameterGroupsTests {

  private static final ColouredPoints POINTS = new ColouredPoints(480, 8, 4);
  private static final GroupSettings HEAD =
      new GroupSettings(List.of("fc3.*"), 0.02, 0.5, List.of(0.8, 0.9));
  private static final GroupSettings BIASES = GroupSettings.ofWeightDecay(0.1, "fc[12].bias");

  private static TrainerBuilder trainer(World world, Optimizer optimizer) {
    return Trainer.on(world)
        .model(new Mlp(8, List.of(9, 7), 4))
        .optimizer(optimizer)
        .precision(Precision.FLOAT64)
        .threads(1);
  }

  private static Snapshot afterOneUpdate(UnaryOperator<TrainerBuilder> more, double lr) {
    try (var trainer = more.apply(trainer(World.solo(), new Sgd(lr))).build();
        var _ = TensorScope.open()) {
      trainer.step(POINTS.batches(32).shuffled(1).epoch(0, 0, 1).load(0));
      return Snapshot.of(trainer);
    }
  }

  private static double first(Snapshot snapshot, String name) {
    return Objects.requireNonNull(snapshot.values().get(name))[0];
  }

  /** w − η' (g + λ' w), with the gradient from two updates of plain descent. */
  @Test
  void everyParameterMovesByTheRateAndDecayOfItsGroup() {
    double lr = 0.1;
    var start = afterOneUpdate(it -> it, 1e-300);
    var plain = afterOneUpdate(it -> it, lr);
    var grouped =
        afterOneUpdate(
            it ->
                it.groups(
                        new GroupSettings(List.of("fc3.*"), 0.02, 0.5, null),
                        GroupSettings.ofWeightDecay(0.1, "fc1.bias", "fc2.bias"))
                    .layerDecay(0.5),
            lr);
    Map<String, double[]> rateAndDecay =
        Map.of(
            "fc1.weight", new double[] {lr / 4, 0},
            "fc1.bias", new double[] {lr / 4, 0.1},
            "fc2.weight", new double[] {lr / 2, 0},
            "fc2.bias", new double[] {lr / 2, 0.1},
            "fc3.weight", new double[] {0.02, 0.5},
            "fc3.bias", new double[] {0.02, 0.5});
    assertThat(rateAndDecay.keySet()).isEqualTo(start.values().keySet());
    rateAndDecay.forEach(
        (name, its) -> {
          double weight = first(start, name);
          double gradient = (weight - first(plain, name)) / lr;
          double expected = weight - its[0] * (gradient + its[1] * weight);
          assertThat(first(grouped, name)).as(name).isCloseTo(expected, within(1e-14));
        });
  }

  private static Snapshot train(World world, Path folder, boolean goesOn, int updates) {
    var builder =
        trainer(world, new AdamW(0.01))
            .strategy(new Sharding(2))
            .groups(HEAD, GroupSettings.ofWeightDecay(0.1, "fc1.bias", "fc2.bias"))
            .layerDecay(0.5)
            .checkpoints(CheckpointSettings.in(folder))
            .loop(LoopSettings.defaults().endAfterUpdates(updates));
    try (var trainer = builder.build()) {
      if (goesOn) {
        assertThat(trainer.resume(folder)).isPresent();
      }
      trainer.fit(POINTS.batches(32 / world.size()).shuffled(7), 1);
      return Snapshot.of(trainer);
    }
  }

  @Test
  void groupsGoOnBitForBitAndOverSlices(@TempDir Path folder) {
    var one = train(World.solo(), folder.resolve("one"), false, 12);
    var whole =
        Ranks.of(2).callWorlds(it -> train(it, folder.resolve("whole"), false, 12)).getFirst();
    Ranks.of(2).callWorlds(it -> train(it, folder.resolve("parts"), false, 5));
    var resumed =
        Ranks.of(2).callWorlds(it -> train(it, folder.resolve("parts"), true, 12)).getFirst();
    assertThat(resumed.isSameAs(whole)).isTrue();
    assertThat(whole.relativeDistance(one)).isLessThan(1e-10);
  }

  /** Three updates an epoch; the bottom layer stays as it is in the first of them. */
  private static TrainerBuilder thawing(World world, int updates, Strategy... techniques) {
    return trainer(world, new AdamW(0.01, List.of(0.9, 0.999), 1e-12, 0.1))
        .strategy(new ClipByNorm(0.1))
        .strategy(techniques)
        .loop(LoopSettings.defaults().endAfterUpdates(updates));
  }

  private static Snapshot fit(Trainer trainer) {
    int ranks = trainer.collective().size();
    trainer.fit(POINTS.batches(160 / ranks).shuffled(7), 3);
    return Snapshot.of(trainer);
  }

  private static Snapshot thawed(World world, int updates, Strategy... techniques) {
    var builder = thawing(world, updates, techniques).groups(GroupSettings.frozenFor(1, "fc1.*"));
    try (var trainer = builder.build()) {
      return fit(trainer);
    }
  }

  @Test
  void aGroupStaysAsItIsUntilItsEpoch() {
    Snapshot frozen;
    try (var trainer = thawing(World.solo(), 3).freeze(it -> it.startsWith("fc1.")).build()) {
      frozen = fit(trainer);
    }
    var before = thawed(World.solo(), 3);
    // Frozen parameters count neither in the update nor in the norm that is clipped.
    assertThat(before.relativeDistance(frozen)).isLessThan(1e-12);
    assertThat(before.values().get("fc1.weight")).isEqualTo(frozen.values().get("fc1.weight"));
    // Adam's first step is as long as the rate: its moments and their correction begin now.
    var after = thawed(World.solo(), 4);
    double weight = first(before, "fc1.weight");
    double moved = Math.abs(first(after, "fc1.weight") - (1 - 0.01 * 0.1) * weight);
    assertThat(moved).isCloseTo(0.01, within(1e-6));
  }

  @Test
  void aGroupThatHasThawedGoesOnAndIsSharedOut(@TempDir Path folder) {
    var whole = thawed(World.solo(), 8);
    var slices = Ranks.of(2).callWorlds(it -> thawed(it, 8, new Sharding(2))).getFirst();
    assertThat(slices.relativeDistance(whole)).isLessThan(1e-9);
    Supplier<TrainerBuilder> saving =
        () ->
            thawing(World.solo(), 8)
                .groups(GroupSettings.frozenFor(1, "fc1.*"))
                .checkpoints(CheckpointSettings.in(folder));
    try (var trainer = saving.get().build()) {
      trainer.link(new StopsAfter(4));
      assertThatThrownBy(() -> fit(trainer)).isInstanceOf(StoppedException.class);
    }
    try (var trainer = saving.get().build()) {
      assertThat(trainer.resume(folder)).isPresent();
      assertThat(fit(trainer).isSameAs(whole)).isTrue();
    }
  }

  @Test
  void whatHasOneRateForAllParametersIsRefused() {
    var builder =
        trainer(
                new World(0, 2, 0, 2, 0, 1, new Rendezvous.SharedFile(Path.of("nowhere"))),
                new Sgd(0.1))
            .precision(Precision.FLOAT32)
            .strategy(new Dgc())
            .layerDecay(0.5);
    assertThatThrownBy(builder::plan)
        .isInstanceOf(PlanRejectedException.class)
        .hasMessageContaining("dgc moves all parameters by one learning rate");
  }

  @Test
  void patternsAreCheckedBeforeAnythingStarts() {
    assertThatThrownBy(() -> trainer(World.solo(), new Sgd(1)).groups(BIASES).plan())
        .hasMessageContaining("groups[0].match: 'fc[12].bias' matches none of the trained");
  }

  @Test
  void aRecipeStatesGroups() {
    var recipe =
        """
        model: {name: mlp, inputs: 1024}
        data: digits
        batch: 8
        optimizer: {name: adamw, lr: 0.001}
        groups:
          - {match: ["fc1.*"], lr: 1e-4}
          - {match: ["fc2.bias"], weight_decay: 0.5, betas: [0.8, 0.9]}
        layer_decay: 0.75
        """;
    var config = RunConfig.read(Recipe.parse("recipe.yaml", recipe), Catalogue.installed());
    assertThat(config.groups())
        .containsExactly(
            GroupSettings.ofLr(1e-4, "fc1.*"),
            new GroupSettings(List.of("fc2.bias"), null, 0.5, List.of(0.8, 0.9)));
    assertThat(config.layerDecay()).isEqualTo(0.75);
    assertThat(
            RunConfig.read(Recipe.of("resolved", config.resolved()), Catalogue.installed())
                .groups())
        .isEqualTo(config.groups());
  }

  private static final String RECIPE =
      "{model: mlp, data: digits, batch: 8, optimizer: {name: sgd, lr: 1}, %s}";

  private static RunConfig read(String more) {
    return RunConfig.read(Recipe.parse("a.yaml", RECIPE.formatted(more)), Catalogue.installed());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "schedule: plateau | schedule.metric: is missing",
        "schedule: {name: milestones, at: [3, 2]} | schedule.at: must be numbers of at least 1",
        "schedule_per: day | schedule_per: must be one of update, epoch",
        "objective: hubber | objective: unknown objective 'hubber'; did you mean 'huber'?",
        "objective: {name: huber, delta: 0} | objective.delta: must be greater than 0",
        "objective: weighted_sum | objective.terms: is missing",
        "objective: {name: weighted_sum, terms: [{objective: l1, weight: 0}]} |"
            + " objective.terms[0].weight: must be greater than 0",
        "objective: {name: weighted_sum, terms: [{weight: 2}]} |"
            + " objective.terms[0].objective: is missing"
      })
  void aRecipeIsToldWhatIsWrong(String line, String message) {
    assertThatThrownBy(() -> read(line))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining(message);
  }

  @Test
  void aRecipeStatesItsObjective() {
    var config = read("objective: {name: cross_entropy, label_smoothing: 0.1, ignore_index: 3}");
    assertThat(config.trained().objective()).isEqualTo(new CrossEntropy(0.1, List.of(), 3L));
    assertThat(config.trained().parameters()).isEqualTo(config.model().parameters());
    assertThat(read("seed: 1").trained()).isEqualTo(config.model());
    var resolved = Recipe.of("resolved", config.resolved());
    assertThat(RunConfig.read(resolved, Catalogue.installed()).objective())
        .isEqualTo(config.objective());
  }

  @Test
  void aRecipeStatesSeveralObjectives() {
    var config =
        read(
            "objective: {name: weighted_sum, terms: [{objective: {name: huber, delta: 2}, weight:"
                + " 0.5, output: 1, target: 1}, {objective: {name: bce_with_logits, pos_weight:"
                + " [3]}}]}");
    var objective =
        new WeightedSum(
            new WeightedSum.Term(new HuberLoss(2), 0.5, 1, 1),
            new WeightedSum.Term(new BinaryCrossEntropy(List.of(3.0)), 1, 0, 0));
    assertThat(config.trained().objective()).isEqualTo(objective);
    var resolved = Recipe.of("resolved", config.resolved());
    assertThat(RunConfig.read(resolved, Catalogue.installed()).objective()).isEqualTo(objective);
  }

  /** A loss with smoothing is larger than one without, at the same weights. */
  @Test
  void aModelIsTrainedAndJudgedByAnotherObjective() {
    var plain = new Mlp(8, List.of(9, 7), 4);
    var smoothed = plain.trainedFor(new CrossEntropy(0.5, List.of(), null));
    try (var one = trainer(World.solo(), new Sgd(0.5)).build();
        var other = trainer(World.solo(), new Sgd(0.5)).model(smoothed).build()) {
      one.fit(POINTS.batches(48).shuffled(1), 20);
      other.fit(POINTS.batches(48).shuffled(1), 20);
      assertThat(other.evaluate(POINTS).loss()).isGreaterThan(one.evaluate(POINTS).loss());
      assertThat(other.evaluate(POINTS).value("accuracy")).isGreaterThan(0.5);
    }
  }
}
