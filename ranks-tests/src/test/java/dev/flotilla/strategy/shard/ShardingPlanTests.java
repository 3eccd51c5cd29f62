package dev.flotilla.strategy.shard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.flotilla.arena.Layout;
import dev.flotilla.memory.Precision;
import dev.flotilla.model.Model;
import dev.flotilla.optim.Adam;
import dev.flotilla.optim.Momentum;
import dev.flotilla.optim.Optimizer;
import dev.flotilla.optim.Sgd;
import dev.flotilla.optim.TorchOptimizer;
import dev.flotilla.settings.ByteSize;
import dev.flotilla.settings.ConfigException;
import dev.flotilla.step.Claim;
import dev.flotilla.step.Claim.GradientStage;
import dev.flotilla.step.Phase;
import dev.flotilla.step.StepContext;
import dev.flotilla.step.Workers;
import dev.flotilla.strategy.PlanFacts;
import dev.flotilla.strategy.PlanIssue;
import dev.flotilla.strategy.PlanRejectedException;
import dev.flotilla.strategy.Property;
import dev.flotilla.strategy.StepPlanner;
import dev.flotilla.strategy.Strategy;
import dev.flotilla.strategy.clip.ClipByNorm;
import dev.flotilla.strategy.compress.AutoExchange;
import dev.flotilla.strategy.compress.Dgc;
import dev.flotilla.strategy.fusion.FuseAllReduce;
import dev.flotilla.strategy.localsgd.AdaptiveLocalSgd;
import dev.flotilla.strategy.localsgd.AveragingGroup;
import dev.flotilla.strategy.localsgd.IntervalRule;
import dev.flotilla.strategy.localsgd.LocalSgd;
import dev.flotilla.strategy.localsgd.MomentumPolicy;
import dev.flotilla.strategy.merge.GradientMerge;
import dev.flotilla.strategy.norm.PoolOver;
import dev.flotilla.strategy.norm.PooledBatchNorm;
import dev.flotilla.strategy.powersgd.PowerSgd;
import dev.flotilla.strategy.precision.MixedPrecision;
import dev.flotilla.strategy.recompute.Recompute;
import dev.flotilla.wire.Dtype;
import dev.flotilla.zoo.model.Mlp;
import java.util.List;
import java.util.OptionalInt;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a user reads before a sharded run starts. */
class ShardingPlanTests {

  private static final Model MODEL = new Mlp(64, List.of(32), 10);
  private static final Optimizer MOMENTUM = new Momentum(0.05, 0.9);

  private static StepPlanner.Plan plan(int ranks, Optimizer optimizer, Strategy... techniques) {
    var all = List.of(techniques);
    var layout = Layout.of(MODEL.parameters(), Precision.FLOAT32);
    var facts = new PlanFacts(ranks, optimizer, MODEL, layout, OptionalInt.empty(), all);
    return StepPlanner.plan(all, facts);
  }

  @ParameterizedTest
  @ValueSource(ints = {-1, 0, 4})
  void refusesAStageThatIsNone(int stage) {
    assertThatThrownBy(() -> new Sharding(stage))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining("stage: must be ")
        .hasMessageContaining("but was " + stage);
  }

  @Test
  void isRefusedWhereRanksKeepWhatTheyDoNotSend() {
    for (var keeper : List.of(new Dgc(), new PowerSgd(2))) {
      assertThatThrownBy(() -> plan(2, MOMENTUM, new Sharding(1), keeper))
          .isInstanceOf(PlanRejectedException.class)
          .hasMessageContaining(keeper.key() + " and sharding both decide the phase EXCHANGE")
          .hasMessageContaining(
              keeper.key()
                  + " and sharding contradict each other: each rank keeps what it does not send,"
                  + " and a rank that holds slices of the sums has no whole gradient to keep the"
                  + " rest of")
          .hasMessageContaining("remove one of them");
    }
  }

  @Test
  void isRefusedWhereRanksUpdateOnTheirOwn() {
    for (var alone : List.of(new LocalSgd(4), new AdaptiveLocalSgd(1, IntervalRule.FLEET))) {
      assertThatThrownBy(() -> plan(2, MOMENTUM, new Sharding(1), alone))
          .hasMessageContaining(
              alone.key()
                  + " and sharding contradict each other: each rank updates on its own between"
                  + " averages, and slices of one model are spread over ranks that must hold the"
                  + " same one")
          .hasMessageContaining("remove one of them, or set ")
          .hasMessageContaining(alone.key() + ": {group: host}");
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3})
  void goesWithHostsThatAverage(int stage) {
    var hosts =
        new LocalSgd(8, 1, MomentumPolicy.LOCAL, Dtype.FP32, false, AveragingGroup.HOST, null);
    var plan = plan(4, MOMENTUM, new Sharding(stage), hosts);
    assertThat(plan.warnings()).isEmpty();
    assertThat(plan.step().describe(Phase.EXCHANGE))
        .startsWith("reduce-scatter")
        .endsWith("the sums of its slices, inside each host");
    assertThat(plan.step().describe(Phase.SYNC))
        .isEqualTo(
            "average parameters every 8 updates, "
                + (stage == 3
                    ? "free what was gathered"
                    : "all-gather of parameters, while the next forward begins"));
  }

  @Test
  void isRefusedBesideAnotherExchange() {
    assertThatThrownBy(() -> plan(2, MOMENTUM, new Sharding(1), new AutoExchange()))
        .hasMessageContaining("exchange and sharding both decide the phase EXCHANGE")
        .hasMessageContaining("remove all but one of them");
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3})
  void sumsSlicesInTheNumbersThatAnotherPutsOnTheWire(int stage) {
    for (var half : List.of(Dtype.BF16, Dtype.FP16)) {
      var plan = plan(2, MOMENTUM, new Sharding(stage), new FuseAllReduce().on(half));
      assertThat(plan.warnings()).isEmpty();
      assertThat(plan.step().describe(Phase.EXCHANGE))
          .startsWith("reduce-scatter")
          .endsWith("the sums of its slices, " + half.word() + " on the wire, sums in float32");
    }
  }

  @Test
  void bucketsAreUnitsWhereNobodyPlansThem() {
    var alone = plan(2, MOMENTUM, new Sharding(1)).step();
    assertThat(alone.describe(Phase.BUCKETS)).contains("units of at most 2 Mi elements");
    var planned = plan(2, MOMENTUM, new Sharding(1), new FuseAllReduce()).step();
    assertThat(planned.describe(Phase.BUCKETS)).contains("buckets of 32 MB");
  }

  @Test
  void oneRankIsOneWarning() {
    assertThat(plan(1, new Adam(0.01), new Sharding(1)).warnings())
        .singleElement()
        .extracting(PlanIssue::toString)
        .asString()
        .contains("sharding has no effect on one rank");
  }

  /** Of one window or of its micro-steps: only who says so can do both. */
  private record Centred(Set<Property> properties) implements Strategy {

    @Override
    public String key() {
      return "centred";
    }

    @Override
    public List<Claim> claims() {
      return List.of(new Claim(Phase.CONDITION, "takes the mean away"));
    }

    @Override
    public Workers workers(StepContext context) {
      return new Workers().condition(GradientStage.CLIP, (_, _) -> true);
    }
  }

  @Test
  void oneRankWithOffloadIsNone() {
    for (var offload : List.of(Offload.OPTIMIZER, Offload.OPTIMIZER_AND_PARAMETERS)) {
      assertThat(plan(1, new Adam(0.01), new Sharding(3).withOffload(offload)).warnings())
          .isEmpty();
    }
    assertThat(plan(1, new Adam(0.01), new Sharding(1).withPlacement(Placement.AUTO)).warnings())
        .isEmpty();
  }

  @Test
  void refusesToOffloadWhatIsNotThere() {
    for (var sharding :
        List.of(
            new Sharding(3).withOffload(Offload.OPTIMIZER),
            new Sharding(1).withPlacement(Placement.AUTO))) {
      assertThatThrownBy(() -> plan(2, new Sgd(0.1), sharding))
          .isInstanceOf(PlanRejectedException.class)
          .hasMessageContaining("nothing to offload")
          .hasMessageContaining("offload: optimizer+parameters");
    }
    var all = new Sharding(3).withOffload(Offload.OPTIMIZER_AND_PARAMETERS);
    assertThat(plan(2, new Sgd(0.1), all).warnings()).isEmpty();
  }

  @Test
  void refusesToOffloadWhatLibtorchKeeps() {
    var rule =
        new TorchOptimizer(
            0.1,
            0,
            (_, _) -> {
              throw new IllegalStateException("not bound here");
            });
    assertThatThrownBy(() -> plan(2, rule, new Sharding(3).withOffload(Offload.OPTIMIZER)))
        .hasMessageContaining("TorchOptimizer keeps its memory itself");
  }

  @Test
  void saysAtOnceWhatDoesNotGoTogether() {
    assertThatThrownBy(
            () ->
                new Sharding(
                    2,
                    false,
                    Placement.AUTO,
                    Offload.OPTIMIZER_AND_PARAMETERS,
                    new ByteSize(1),
                    null,
                    Dtype.FP32))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining("offload: goes with placement: static")
        .hasMessageContaining("offload: moves parameters at stage 3 alone")
        .hasMessageContaining("keep_gathered: goes with stage 3");
    assertThatThrownBy(() -> Offload.parse("optimiser"))
        .hasMessageContaining("must be one of none, optimizer, optimizer+parameters")
        .hasMessageContaining("'optimiser'");
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3})
  void parametersInBf16NeedAForwardInBf16(int stage) {
    var halves = new Sharding(stage).withParameters(Dtype.BF16);
    for (var techniques :
        List.of(
            new Strategy[] {halves},
            new Strategy[] {halves, new MixedPrecision(Dtype.FP16)},
            new Strategy[] {halves, new FuseAllReduce().on(Dtype.BF16)})) {
      assertThatThrownBy(() -> plan(2, MOMENTUM, techniques))
          .isInstanceOf(PlanRejectedException.class)
          .hasMessageContaining("sharding has parameters in bf16, but forward does not compute")
          .hasMessageContaining("add amp: {dtype: bf16}, or set parameters: fp32");
    }
    var plan = plan(2, MOMENTUM, halves, new MixedPrecision(Dtype.BF16));
    assertThat(plan.warnings()).isEmpty();
    assertThat(plan.step().describe(Phase.EXCHANGE)).startsWith("reduce-scatter in bf16");
    assertThat(plan.step().describe(Phase.UPDATE)).contains("float32 slices");
    assertThat(plan(1, MOMENTUM, halves, new MixedPrecision(Dtype.BF16)).warnings()).isEmpty();
  }

  @Test
  void parametersInFp16AreRefusedWithTheReason() {
    assertThatThrownBy(() -> new Sharding(1).withParameters(Dtype.FP16))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining("parameters: must be fp32 or bf16, as gradients of fp16 parameters")
        .hasMessageContaining("but was fp16");
  }

  @Test
  void parametersInBf16AreNoneOfAFloat64Run() {
    Strategy[] techniques = {
      new Sharding(1).withParameters(Dtype.BF16), new MixedPrecision(Dtype.BF16)
    };
    var all = List.of(techniques);
    var layout = Layout.of(MODEL.parameters(), Precision.FLOAT64);
    var facts = new PlanFacts(2, MOMENTUM, MODEL, layout, OptionalInt.empty(), all);
    assertThatThrownBy(() -> StepPlanner.plan(all, facts))
        .hasMessageContaining("sharding rounds parameters to bf16, but precision is float64")
        .hasMessageContaining("set parameters: fp32, or precision: float32");
  }

  @Test
  void isRefusedWhereAWholeWindowsGradientsAreChangedBeforeTheExchange() {
    for (int stage = 2; stage <= 3; stage++) {
      var sharding = new Sharding(stage);
      assertThatThrownBy(() -> plan(2, MOMENTUM, sharding, new Centred(Set.of())))
          .hasMessageContaining("centred changes the gradients of a window before they are")
          .hasMessageContaining("with sharding of stage " + stage)
          .hasMessageContaining("set stage: 1, or stage: 2 with no_sync: true");
      plan(2, MOMENTUM, sharding, new Centred(Set.of(Property.CONDITIONS_MICRO_STEPS)));
    }
    plan(2, MOMENTUM, new Sharding(1), new Centred(Set.of()));
    plan(2, MOMENTUM, new Sharding(2, true), new Centred(Set.of()));
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3})
  void joinsEverythingElse(int stage) {
    var plan =
        plan(
            4,
            new Adam(0.01),
            new Sharding(stage),
            new GradientMerge(4),
            Recompute.auto(1 << 20),
            new MixedPrecision(Dtype.FP16),
            new PooledBatchNorm(PoolOver.SYNC),
            new FuseAllReduce(),
            new ClipByNorm(1));
    assertThat(plan.warnings()).noneMatch(it -> it.toString().contains("sharding"));
    assertThat(plan.step().describe(Phase.EXCHANGE)).contains("reduce-scatter");
    assertThat(plan.step().describe(Phase.UPDATE)).contains("this rank's slices");
    assertThat(plan.step().describe(Phase.SYNC))
        .contains(stage == 3 ? "free what was gathered" : "all-gather of parameters");
  }
}
