package dev.flotilla.train;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.flotilla.data.Batch;
import dev.flotilla.data.Dataset;
import dev.flotilla.memory.NativeView;
import dev.flotilla.memory.Precision;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.memory.Tensors;
import dev.flotilla.model.Activations;
import dev.flotilla.model.CrossEntropy;
import dev.flotilla.model.HuberLoss;
import dev.flotilla.model.Model;
import dev.flotilla.model.Objective;
import dev.flotilla.model.ParameterSpec;
import dev.flotilla.model.Segment;
import dev.flotilla.model.Shape;
import dev.flotilla.model.WeightedSum;
import dev.flotilla.model.Weights;
import dev.flotilla.optim.Sgd;
import dev.flotilla.strategy.PlanRejectedException;
import dev.flotilla.strategy.Strategy;
import dev.flotilla.strategy.merge.GradientMerge;
import dev.flotilla.strategy.merge.Tail;
import dev.flotilla.strategy.merge.Weighting;
import dev.flotilla.strategy.merge.WindowLength;
import dev.flotilla.strategy.norm.PoolOver;
import dev.flotilla.strategy.norm.PooledBatchNorm;
import dev.flotilla.strategy.shard.Sharding;
import dev.flotilla.testkit.ColouredPoints;
import dev.flotilla.testkit.NormedPerceptron;
import dev.flotilla.testkit.Ranks;
import dev.flotilla.world.World;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.bytedeco.pytorch.global.torch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Several objectives, each divided by a number of its own, give what one large batch gives. */
class WeightedSumTests {

  private static final int SAMPLES = 23;
  private static final long IGNORED = -100;

  private static final Objective OBJECTIVE =
      new WeightedSum(
          new WeightedSum.Term(
              new CrossEntropy(0.1, List.of(1.0, 2.5, 0.5), IGNORED, true), 1, 0, 0),
          new WeightedSum.Term(new HuberLoss(0.5), 0.3, 1, 1),
          new WeightedSum.Term(new CrossEntropy(0, List.of(), IGNORED), 0.2, 0, 0));

  /** A class, which late samples mostly lack, and a number for each sample. */
  private record Points() implements Dataset {

    @Override
    public int size() {
      return SAMPLES;
    }

    @Override
    public Batch load(int[] samples) {
      var places = IntStream.of(samples).asDoubleStream().toArray();
      var x = Tensors.ofDoubles(places).unsqueeze(1).mul(Tensors.ofDoubles(0.3, 0.7, 1.1)).sin();
      long[] classes =
          IntStream.of(samples).mapToLong(i -> i % 5 < i / 5 ? IGNORED : i % 3).toArray();
      var numbers = Tensors.ofDoubles(places).mul(Tensors.ofDoubles(0.1)).view(samples.length, 1);
      return new Batch(List.of(x), List.of(Tensors.ofLongs(classes), numbers), samples.length);
    }
  }

  /** Three numbers in, three logits and a number out. */
  private record TwoHeads(Objective objective) implements Model {

    @Override
    public String name() {
      return "two_heads";
    }

    @Override
    public List<Segment> segments() {
      return List.of(new Trunk(), new Heads());
    }
  }

  private record Trunk() implements Segment {

    @Override
    public String name() {
      return "trunk";
    }

    @Override
    public List<ParameterSpec> parameters() {
      return List.of(ParameterSpec.weight("trunk.weight", Shape.of(8, 3), 3));
    }

    @Override
    public Forward bind(Weights weights) {
      var weight = weights.parameter("trunk.weight");
      return (input, _) -> Activations.of(torch.linear(input.only(), weight).tanh());
    }
  }

  private record Heads() implements Segment {

    @Override
    public String name() {
      return "heads";
    }

    @Override
    public List<ParameterSpec> parameters() {
      return List.of(
          ParameterSpec.weight("classes.weight", Shape.of(3, 8), 8),
          ParameterSpec.weight("number.weight", Shape.of(1, 8), 8));
    }

    @Override
    public Forward bind(Weights weights) {
      var classes = weights.parameter("classes.weight");
      var number = weights.parameter("number.weight");
      return (input, _) ->
          Activations.of(torch.linear(input.only(), classes), torch.linear(input.only(), number));
    }
  }

  private static TrainerBuilder trainer(World world, Strategy... strategies) {
    return Trainer.on(world)
        .model(new TwoHeads(OBJECTIVE))
        .optimizer(new Sgd(0.5))
        .precision(Precision.FLOAT64)
        .strategy(strategies)
        .seed(5)
        .threads(1);
  }

  /** Weights, training loss and evaluation loss. */
  private static double[] numbers(Trainer trainer, double loss) {
    var numbers = new ArrayList<Double>();
    trainer.read(
        model -> {
          model
              .arena()
              .parameters()
              .values()
              .forEach(
                  it -> {
                    for (double v : NativeView.of(it.detach()).toArray(ValueLayout.JAVA_DOUBLE)) {
                      numbers.add(v);
                    }
                  });
          return numbers;
        });
    numbers.add(loss);
    numbers.add(trainer.evaluate(new Points()).loss());
    return numbers.stream().mapToDouble(Double::doubleValue).toArray();
  }

  private static double[] trained(World world, int perRank, Strategy... strategies) {
    try (var trainer = trainer(world, strategies).build()) {
      var result = trainer.fit(new Points().batches(perRank).shuffled(3), 3);
      assertThat(result.updates()).isEqualTo(3);
      return numbers(trainer, result.loss());
    }
  }

  private static double[] large() {
    return trained(World.solo(), SAMPLES);
  }

  @ParameterizedTest
  @CsvSource({"1, 5, 5, 0", "2, 4, 3, 0", "3, 2, 4, 0", "3, 8, 1, 0", "2, 4, 3, 2", "3, 2, 4, 3"})
  void mergedWindowsOfAllRanksAreTheLargeBatch(int ranks, int perRank, int k, int stage) {
    var merge = new GradientMerge(k);
    Strategy[] strategies =
        stage > 0
            ? new Strategy[] {merge, new Sharding(stage)}
            : k > 1 ? new Strategy[] {merge} : new Strategy[0];
    var results = Ranks.of(ranks).callWorlds(world -> trained(world, perRank, strategies));
    double[] large = large();
    assertThat(results).allSatisfy(it -> assertThat(it).containsExactly(large, within(1e-12)));
  }

  @Test
  void aLoopOfOnesOwnHoldsItsBatchesToo() {
    double[] large;
    try (var trainer = trainer(World.solo()).build()) {
      var result = trainer.fit(new Points().batches(SAMPLES), 1);
      large = numbers(trainer, result.loss());
    }
    try (var trainer = trainer(World.solo()).build()) {
      var loop = trainer.ownLoop();
      try (var _ = TensorScope.open()) {
        var all = new Points().load(IntStream.range(0, SAMPLES).toArray());
        all.split(3).forEach(loop::forwardBackward);
      }
      double loss = loop.update().totals().meanLoss();
      assertThat(numbers(trainer, loss)).containsExactly(large, within(1e-12));
    }
  }

  /** What a window holds back is saved with it; the order of sums stays the same. */
  @Test
  void aWindowGoesOnFromItsMiddle(@TempDir Path folder) {
    double[] whole;
    try (var trainer = trainer(World.solo()).build()) {
      var loop = trainer.ownLoop();
      parts(0, 3, loop);
      whole = numbers(trainer, loop.update().totals().meanLoss());
    }
    try (var trainer = trainer(World.solo()).checkpoints(CheckpointSettings.in(folder)).build()) {
      parts(0, 2, trainer.ownLoop());
      trainer.save();
      trainer.awaitSave();
    }
    try (var trainer = trainer(World.solo()).build()) {
      assertThat(trainer.resume(folder)).isPresent();
      var loop = trainer.ownLoop();
      parts(2, 3, loop);
      assertThat(numbers(trainer, loop.update().totals().meanLoss())).containsExactly(whole);
    }
  }

  private static void parts(int from, int to, OwnLoop loop) {
    try (var _ = TensorScope.open()) {
      var all = new Points().load(IntStream.range(0, SAMPLES).toArray());
      all.split(3).subList(from, to).forEach(loop::forwardBackward);
    }
  }

  private static double[] pooled(World world, int perRank, Strategy... strategies) {
    var points = new ColouredPoints(24, 8, 4);
    var weighted = new CrossEntropy(0, List.of(0.5, 1.0, 2.0, 3.0), null, true);
    try (var trainer =
        trainer(world, strategies)
            .model(new NormedPerceptron(8, 6, 4).trainedFor(weighted))
            .build()) {
      var result = trainer.fit(points.batches(perRank).shuffled(3), 2);
      assertThat(result.updates()).isEqualTo(2);
      return NativeView.of(trainer.model().parameter("fc1.weight").detach())
          .toArray(ValueLayout.JAVA_DOUBLE);
    }
  }

  /** Where BatchNorm sees all batches at once, they are held for two reasons. */
  @Test
  void windowsWithPooledStatisticsAreTheLargeBatchToo() {
    double[] large = pooled(World.solo(), 24);
    var window =
        Ranks.of(2)
            .callWorlds(
                world ->
                    pooled(
                        world,
                        4,
                        new GradientMerge(3),
                        new PooledBatchNorm(PoolOver.WHOLE_WINDOW)));
    var sync =
        Ranks.of(2).callWorlds(world -> pooled(world, 12, new PooledBatchNorm(PoolOver.SYNC)));
    for (var weights : List.of(window.getFirst(), sync.getLast())) {
      assertThat(weights).containsExactly(large, within(1e-10));
    }
  }

  @Test
  void meansOfMicroBatchesAreRefused() {
    var merge =
        new GradientMerge(WindowLength.of(2), null, true, Tail.FLUSH, Weighting.MICRO_BATCHES);
    assertThatThrownBy(() -> trainer(World.solo(), merge).plan())
        .isInstanceOf(PlanRejectedException.class)
        .hasMessageContaining("the objective divides by numbers of the whole window");
  }
}
