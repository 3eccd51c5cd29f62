package dev.flotilla.zoo.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.flotilla.data.Batch;
import dev.flotilla.data.Dataset;
import dev.flotilla.memory.NativeLibraries;
import dev.flotilla.memory.NativeView;
import dev.flotilla.memory.Precision;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.memory.Tensors;
import dev.flotilla.model.Activations;
import dev.flotilla.model.BufferSpec;
import dev.flotilla.model.Classification;
import dev.flotilla.model.ForwardMode;
import dev.flotilla.model.Model;
import dev.flotilla.model.Objective;
import dev.flotilla.model.ParameterSpec;
import dev.flotilla.model.Segment;
import dev.flotilla.model.Weights;
import dev.flotilla.optim.Sgd;
import dev.flotilla.pass.BoundModel;
import dev.flotilla.strategy.PlanRejectedException;
import dev.flotilla.strategy.merge.GradientMerge;
import dev.flotilla.strategy.norm.PoolOver;
import dev.flotilla.strategy.norm.PooledBatchNorm;
import dev.flotilla.train.Trainer;
import dev.flotilla.train.TrainerBuilder;
import dev.flotilla.world.World;
import dev.flotilla.zoo.data.SyntheticImages;
import java.lang.foreign.ValueLayout;
import java.util.List;
import org.bytedeco.pytorch.BatchNorm2dImpl;
import org.bytedeco.pytorch.BatchNormOptions;
import org.bytedeco.pytorch.LinearImpl;
import org.bytedeco.pytorch.Module;
import org.bytedeco.pytorch.Tensor;
import org.junit.jupiter.api.Test;

/** BatchNorms that keep their running statistics and train by them. */
final class FrozenStatisticsTests {

  private static final Dataset NOISE = new SyntheticImages(3, 32, 4, 32, 4).train();

  /** One BatchNorm as a model. */
  private record OneNorm(BatchNorm norm) implements Model, Segment {

    @Override
    public String name() {
      return "norm";
    }

    @Override
    public List<Segment> segments() {
      return List.of(this);
    }

    @Override
    public List<ParameterSpec> parameters() {
      return norm.parameters();
    }

    @Override
    public List<BufferSpec> buffers() {
      return norm.buffers();
    }

    @Override
    public Objective objective() {
      return new Classification();
    }

    @Override
    public Forward bind(Weights weights) {
      var bound = norm.bind(weights);
      return (input, mode) -> Activations.of(bound.apply(input.only(), mode));
    }
  }

  private static double[] numbers(Tensor tensor) {
    return NativeView.of(tensor.detach().contiguous()).toArray(ValueLayout.JAVA_DOUBLE);
  }

  /** Values of PyTorch 2.13: BatchNorm2d(2).double().eval(), and backward of (w * y).sum(). */
  @Test
  void trainsAsPyTorchsBatchNormInEvaluation() {
    try (var bound =
            new BoundModel(
                new OneNorm(new BatchNorm("bn", 2, 1)),
                Precision.FLOAT64,
                1,
                "bn.running_mean"::equals);
        var _ = TensorScope.open()) {
      bound.parameter("bn.weight").detach().copy_(Tensors.ofDoubles(2, 0.5));
      bound.parameter("bn.bias").detach().copy_(Tensors.ofDoubles(0.5, -0.25));
      bound.buffer("bn.running_mean").copy_(Tensors.ofDoubles(1, 2));
      bound.buffer("bn.running_var").copy_(Tensors.ofDoubles(4, 0.25));
      var x = Tensors.ofDoubles(1, 2, 3, 4, 5, 6, 7, 8).view(2, 2, 1, 2).set_requires_grad(true);
      var w = Tensors.ofDoubles(1, -2, 3, -4, 5, -6, 7, -8).view(2, 2, 1, 2);
      var y = ReferenceTests.run(bound, new Batch(List.of(x), x, 2), ForwardMode.TRAIN).only();
      assertThat(numbers(y))
          .containsExactly(
              new double[] {
                0.5,
                1.4999987500023437,
                0.7499800005999799,
                1.7499600011999599,
                4.499995000009375,
                5.499993750011718,
                4.749900002999899,
                5.74988000359988
              },
              within(1e-12));
      y.mul(w).sum().backward();
      assertThat(numbers(x.grad()))
          .containsExactly(
              new double[] {
                0.9999987500023437,
                -1.9999975000046875,
                2.99994000179994,
                -3.9999200023999197,
                4.999993750011718,
                -5.999992500014063,
                6.99986000419986,
                -7.9998400047998395
              },
              within(1e-12));
      assertThat(numbers(bound.parameter("bn.weight").grad()))
          .containsExactly(new double[] {-5.999992500014063, -35.999280021599276}, within(1e-12));
      assertThat(numbers(bound.parameter("bn.bias").grad())).containsExactly(-2, -2);
      assertThat(numbers(bound.buffer("bn.running_mean"))).containsExactly(1, 2);
      assertThat(numbers(bound.buffer("bn.running_var"))).containsExactly(4, 0.25);
      assertThat(bound.buffer("bn.num_batches_tracked").item_long()).isZero();
    }
  }

  private static TrainerBuilder trainer(Model model) {
    return Trainer.on(World.solo())
        .model(model)
        .optimizer(new Sgd(0.1))
        .precision(Precision.FLOAT64)
        .threads(1);
  }

  private static Model resNet() {
    return new ResNet18(4, Stem.CIFAR, Normalization.BATCH, 2, false, 8);
  }

  /** Without statistics of batches, micro-batches are the large batch. */
  @Test
  void mergingIsExactWhereAllAreFrozen() {
    double[] large;
    try (var trainer = trainer(resNet()).freezeStatistics(_ -> true).build()) {
      trainer.fit(NOISE.batches(32).shuffled(1), 2);
      large = numbers(trainer.model().parameter("conv1.weight"));
    }
    var builder = trainer(resNet()).freezeStatistics(_ -> true).strategy(new GradientMerge(4));
    assertThat(builder.plan().warnings()).noneMatch(it -> it.toString().contains("BatchNorm"));
    try (var trainer = builder.build()) {
      trainer.fit(NOISE.batches(8).shuffled(1), 2);
      assertThat(numbers(trainer.model().parameter("conv1.weight")))
          .containsExactly(large, within(1e-12));
    }
  }

  /** What freezes parameters freezes no statistics, and the other way round. */
  @Test
  void onlyTheNamedOnesStay() {
    try (var trainer =
        trainer(resNet())
            .freeze(name -> name.startsWith("conv1") || name.startsWith("layer2"))
            .freezeStatistics(name -> name.equals("bn1") || name.startsWith("layer1."))
            .build()) {
      trainer.fit(NOISE.batches(16).shuffled(1), 1);
      var model = trainer.model();
      assertThat(numbers(model.buffer("bn1.running_mean"))).containsOnly(0);
      assertThat(numbers(model.buffer("layer1.0.bn2.running_var"))).containsOnly(1);
      assertThat(numbers(model.buffer("layer2.0.bn1.running_mean"))).doesNotContain(0);
      assertThat(model.frozen()).containsKeys("conv1.weight", "layer2.0.bn1.weight");
      assertThat(model.frozen()).doesNotContainKeys("bn1.weight", "layer1.0.bn2.weight");
    }
  }

  @Test
  void statisticsThatStayCannotBePooled() {
    for (var over : List.of(PoolOver.SYNC, PoolOver.WHOLE_WINDOW)) {
      assertThatThrownBy(
              () ->
                  trainer(resNet())
                      .freezeStatistics("bn1"::equals)
                      .strategy(new PooledBatchNorm(over))
                      .plan())
          .isInstanceOf(PlanRejectedException.class)
          .hasMessageContaining("freeze_statistics keeps BatchNorm's statistics as they are");
    }
  }

  private static final class Own extends Module {

    private final BatchNorm2dImpl first =
        register_module("first", new BatchNorm2dImpl(new BatchNormOptions(3)));
    private final BatchNorm2dImpl second =
        register_module("second", new BatchNorm2dImpl(new BatchNormOptions(3)));
    private final LinearImpl head = register_module("head", new LinearImpl(3 * 32 * 32, 4));

    Tensor forward(Tensor images) {
      return head.forward(second.forward(first.forward(images)).flatten(1, -1));
    }
  }

  /** Also after an evaluation, from which training returns. */
  @Test
  void modulesOfOnesOwnKeepTheirStatisticsToo() {
    NativeLibraries.load();
    try (var module = new Own();
        var trainer =
            Trainer.on(World.solo())
                .model(
                    Model.of(module, (images, _) -> module.forward(images), new Classification()))
                .optimizer(new Sgd(0.1))
                .freezeStatistics("first"::equals)
                .threads(1)
                .build();
        var _ = TensorScope.open()) {
      trainer.fit(NOISE.batches(16).shuffled(1), 1);
      trainer.evaluate(NOISE);
      trainer.fit(NOISE.batches(16).shuffled(1), 1);
      var model = trainer.model();
      assertThat(model.buffer("first.running_mean").abs().sum().item_float()).isZero();
      assertThat(model.buffer("first.num_batches_tracked").item_long()).isZero();
      assertThat(model.buffer("second.num_batches_tracked").item_long()).isEqualTo(4);
    }
  }
}
