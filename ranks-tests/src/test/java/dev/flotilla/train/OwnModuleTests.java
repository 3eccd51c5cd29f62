package dev.flotilla.train;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.flotilla.memory.NativeLibraries;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.memory.Tensors;
import dev.flotilla.model.Classification;
import dev.flotilla.model.Model;
import dev.flotilla.optim.Adam;
import dev.flotilla.optim.AdamW;
import dev.flotilla.optim.Momentum;
import dev.flotilla.optim.Optimizer;
import dev.flotilla.optim.Sgd;
import dev.flotilla.strategy.Strategy;
import dev.flotilla.strategy.compress.Dgc;
import dev.flotilla.strategy.fusion.BucketRule;
import dev.flotilla.strategy.fusion.FuseAllReduce;
import dev.flotilla.strategy.localsgd.LocalSgd;
import dev.flotilla.testkit.ColouredPoints;
import dev.flotilla.testkit.Ranks;
import dev.flotilla.testkit.Snapshot;
import dev.flotilla.wire.Dtype;
import dev.flotilla.world.World;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.stream.Stream;
import org.bytedeco.pytorch.LinearImpl;
import org.bytedeco.pytorch.Module;
import org.bytedeco.pytorch.Scalar;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch.ScalarType;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What is in a user's module is treated as its owner wants it. */
class OwnModuleTests {

  private static final ColouredPoints POINTS = new ColouredPoints(60, 8, 4);
  private static final double DECAY = 0.1;

  @BeforeAll
  static void load() {
    NativeLibraries.load();
  }

  /** Two layers that forward uses, and one that it may use. */
  private static final class Layers extends Module {
    private final LinearImpl in = register_module("in", new LinearImpl(8, 16));
    private final LinearImpl out = register_module("out", new LinearImpl(16, 4));
    private final LinearImpl spare = register_module("spare", new LinearImpl(4, 4));

    Tensor forward(Tensor x) {
      return out.forward(in.forward(x).relu());
    }

    Tensor forwardWithSpare(Tensor x) {
      return spare.forward(forward(x));
    }

    /** Reaches the spare layer with gradients that are all zero. */
    Tensor forwardBesideSpare(Tensor x) {
      return forward(x).add(spare.weight().sum().mul(new Scalar(0.0)));
    }
  }

  private static Model model(Layers module, BiFunction<Layers, Tensor, Tensor> forward) {
    return Model.of(module, (x, _) -> forward.apply(module, x), new Classification());
  }

  private static TrainerBuilder trainer(World world, Model model, Optimizer optimizer) {
    return Trainer.on(world).model(model).optimizer(optimizer).threads(1);
  }

  static Stream<Optimizer> decayingOptimizers() {
    return Stream.of(
        new Sgd(0.1, DECAY),
        new Momentum(0.1, 0.9, false, DECAY),
        new Adam(0.01, List.of(0.9, 0.999), 1e-8, DECAY),
        new AdamW(0.01, List.of(0.9, 0.999), 1e-8, DECAY));
  }

  private record Change(Snapshot before, Snapshot after) {

    static Change in(TrainerBuilder builder) {
      try (var trainer = builder.build()) {
        var before = Snapshot.of(trainer);
        trainer.fit(POINTS.batches(10), 1);
        return new Change(before, Snapshot.of(trainer));
      }
    }

    double of(String name) {
      return after.relativeDistance(name, before);
    }
  }

  @ParameterizedTest
  @MethodSource("decayingOptimizers")
  void parametersThatWantNoGradientAndThoseThatGetNoneAreLeftAlone(Optimizer optimizer) {
    try (var module = new Layers()) {
      module.in.weight().set_requires_grad(false);
      var change = Change.in(trainer(World.solo(), model(module, Layers::forward), optimizer));
      assertThat(change.of("in.weight")).isZero();
      assertThat(change.of("spare.weight")).isZero();
      assertThat(change.of("out.weight")).isGreaterThan(1e-3);
      assertThat(module.in.weight().requires_grad()).isFalse();
    }
  }

  static Stream<Strategy> techniques() {
    return Stream.of(
        new FuseAllReduce(1e-4, 50, 0, true, BucketRule.SIZE, Dtype.FP32),
        new Dgc(2, 4, List.of(0.5)).minNumel(8),
        new LocalSgd(2));
  }

  @ParameterizedTest
  @MethodSource("techniques")
  void theyAreLeftAloneOnSeveralRanksToo(Strategy technique) {
    var changes =
        Ranks.of(2)
            .callWorlds(
                world -> {
                  try (var module = new Layers()) {
                    module.in.weight().set_requires_grad(false);
                    var optimizer = new Momentum(0.1, 0.9, false, DECAY);
                    return Change.in(
                        trainer(world, model(module, Layers::forward), optimizer)
                            .strategy(technique));
                  }
                });
    for (var change : changes) {
      assertThat(change.of("in.weight")).isZero();
      assertThat(change.of("spare.weight")).isZero();
      assertThat(change.of("out.weight")).isGreaterThan(1e-3);
      assertThat(change.after().isSameAs(changes.getFirst().after())).isTrue();
    }
  }

  @Test
  void whatOneRankReachesIsUpdatedOnAll() {
    var changes =
        Ranks.of(2)
            .callWorlds(
                world -> {
                  try (var module = new Layers()) {
                    BiFunction<Layers, Tensor, Tensor> forward =
                        world.rank() == 1 ? Layers::forwardBesideSpare : Layers::forward;
                    return Change.in(trainer(world, model(module, forward), new Sgd(0.1, DECAY)));
                  }
                });
    assertThat(changes.getFirst().of("spare.weight")).isGreaterThan(1e-3);
    assertThat(changes.getFirst().of("spare.bias")).isZero();
    assertThat(changes.getFirst().after().isSameAs(changes.getLast().after())).isTrue();
  }

  @Test
  void whatIsReachedLaterIsUpdatedFromThenOn(@TempDir Path folder) {
    try (var module = new Layers();
        var _ = TensorScope.open()) {
      boolean[] usesSpare = {false};
      var model =
          Model.of(
              module,
              (x, _) -> usesSpare[0] ? module.forwardWithSpare(x) : module.forward(x),
              new Classification());
      var builder = trainer(World.solo(), model, new Sgd(0.1, DECAY));
      builder.checkpoints(CheckpointSettings.in(folder));
      var batch = POINTS.load(new int[] {0, 1, 2, 3});
      try (var trainer = builder.build()) {
        trainer.step(batch);
        trainer.save();
        trainer.awaitSave();
      }
      try (var trainer = builder.build()) {
        trainer.resume(folder);
        var before = Snapshot.of(trainer);
        trainer.step(batch);
        assertThat(Snapshot.of(trainer).relativeDistance("spare.weight", before)).isZero();
        usesSpare[0] = true;
        trainer.step(batch);
        assertThat(Snapshot.of(trainer).relativeDistance("spare.weight", before)).isPositive();
      }
    }
  }

  @Test
  void whatOneTrainerFreezesTheNextMayTrain() {
    try (var module = new Layers()) {
      var model = model(module, Layers::forward);
      var first =
          Change.in(trainer(World.solo(), model, new Sgd(0.1)).freeze(n -> n.startsWith("in")));
      assertThat(first.of("in.weight")).isZero();
      assertThat(Change.in(trainer(World.solo(), model, new Sgd(0.1))).of("in.weight"))
          .isGreaterThan(1e-3);
    }
  }

  /** A mask, a table and a scale beside a layer. */
  private static final class WithBuffers extends Module {
    private final LinearImpl out = register_module("out", new LinearImpl(8, 4));
    private final Tensor mask;
    private final Tensor steps;
    private final Tensor scale;

    WithBuffers(double scaling) {
      // What register_buffer returns lies in a list that grows with the next one.
      mask = Tensors.zeros(ScalarType.Bool, 4);
      steps = Tensors.zeros(ScalarType.Int, 2);
      scale = Tensors.ofDoubles(scaling).to(ScalarType.Float);
      register_buffer("mask", mask);
      register_buffer("steps", steps);
      register_buffer("scale", scale);
    }

    Tensor forward(Tensor x) {
      steps.add_(new Scalar(1));
      return out.forward(x).masked_fill(mask, new Scalar(0.0)).mul(scale);
    }
  }

  @Test
  void buffersKeepTheirTypesAndConstantsTheirBits(@TempDir Path folder) {
    float third = 1 / 3f;
    var found =
        Ranks.of(3)
            .callWorlds(
                world -> {
                  try (var _ = TensorScope.open();
                      var module = new WithBuffers(third)) {
                    var model = Model.of(module, (x, _) -> module.forward(x), new Classification());
                    var builder = trainer(world, model, new Sgd(0.1));
                    builder.checkpoints(CheckpointSettings.in(folder));
                    try (var trainer = builder.build()) {
                      trainer.fit(POINTS.batches(10), 1);
                      trainer.evaluate(POINTS);
                      trainer.averageStatistics();
                      trainer.save();
                      trainer.awaitSave();
                    }
                    assertThat(model.buffers()).noneMatch(buffer -> buffer.isStatistic());
                    assertThat(module.mask.scalar_type().intern()).isEqualTo(ScalarType.Bool);
                    assertThat(module.steps.scalar_type().intern()).isEqualTo(ScalarType.Int);
                    return (float) module.scale.item_double();
                  }
                });
    assertThat(found).containsOnly(third);
  }

  /** One matrix under two names. */
  private static final class Tied extends Module {
    private final Tensor weight;

    Tied() {
      weight = Tensors.zeros(ScalarType.Float, 8, 8).add_(new Scalar(0.1));
      register_parameter("first", weight);
      register_parameter("second", weight);
    }

    Tensor forward(Tensor x) {
      return x.matmul(weight).relu().matmul(weight);
    }
  }

  @Test
  void aTensorUnderTwoNamesIsOneParameter() {
    try (var _ = TensorScope.open();
        var module = new Tied()) {
      var model = Model.of(module, (x, _) -> module.forward(x), new Classification());
      assertThat(model.parameters()).extracting(spec -> spec.name()).containsExactly("first");
      assertThat(model.aliases()).containsExactly(Map.entry("second", "first"));
      assertThat(Change.in(trainer(World.solo(), model, new Sgd(0.1))).of("first")).isPositive();
    }
  }

  @Test
  void twoTensorsInOneMemoryAreRefused() {
    try (var _ = TensorScope.open();
        var module = new Module()) {
      var weight = Tensors.zeros(ScalarType.Float, 8, 8);
      module.register_parameter("first", weight);
      module.register_parameter("second", weight.detach().view(64));
      assertThatThrownBy(() -> Model.of(module, (x, _) -> x, new Classification()))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining(
              "first and second of the module are two tensors in the same memory");
    }
  }
}
