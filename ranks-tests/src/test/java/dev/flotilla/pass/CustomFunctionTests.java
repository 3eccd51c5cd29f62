package dev.flotilla.pass;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.flotilla.memory.TensorScope;
import dev.flotilla.model.Activations;
import dev.flotilla.model.BufferSpec;
import dev.flotilla.model.Classification;
import dev.flotilla.model.CustomFunction;
import dev.flotilla.model.ForwardMode;
import dev.flotilla.model.Gradient;
import dev.flotilla.model.Model;
import dev.flotilla.model.Objective;
import dev.flotilla.model.ParameterSpec;
import dev.flotilla.model.Part;
import dev.flotilla.model.PartedSegment;
import dev.flotilla.model.Segment;
import dev.flotilla.model.Shape;
import dev.flotilla.model.Weights;
import dev.flotilla.optim.Sgd;
import dev.flotilla.strategy.Strategy;
import dev.flotilla.strategy.recompute.Recompute;
import dev.flotilla.testkit.ColouredPoints;
import dev.flotilla.testkit.LeakProbe;
import dev.flotilla.testkit.Snapshot;
import dev.flotilla.train.Trainer;
import dev.flotilla.world.World;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.bytedeco.pytorch.Scalar;
import org.bytedeco.pytorch.Tensor;
import org.junit.jupiter.api.Test;

/** What a custom function gives is saved, and the span around it is recomputed without it. */
class CustomFunctionTests {

  private static final ColouredPoints POINTS = new ColouredPoints(480, 8, 4);
  private static final int BATCH = 32;
  private static final int STEPS = 5;

  private final List<String> runs = new ArrayList<>();
  private double slope = 2;

  /** y = x², beside a shortcut. */
  private final class Square implements CustomFunction {

    @Override
    public boolean suits(Activations input, ForwardMode mode) {
      return true;
    }

    @Override
    public Result forward(Activations input, ForwardMode mode) {
      runs.add("custom");
      Tensor squared = input.tensors().getFirst().square();
      return new Result(Activations.of(squared, input.tensors().get(1)), List.of(squared));
    }

    @Override
    public Activations outputs(Activations input, List<Tensor> saved) {
      return Activations.of(saved.getFirst(), input.tensors().get(1));
    }

    @Override
    public List<Gradient> backward(Activations input, List<Tensor> saved, List<Tensor> gradients) {
      Tensor x = input.tensors().getFirst();
      return List.of(
          new Gradient(x, gradients.getFirst().mul(x.mul(new Scalar(slope)))),
          new Gradient(input.tensors().get(1), gradients.get(1)));
    }
  }

  /** x → A x + (B x)²: the shortcut and its input have the same origin. */
  private record Bent(String name, List<String> runs, CustomFunction function)
      implements PartedSegment {

    @Override
    public List<ParameterSpec> parameters() {
      return Stream.of(".in", ".out")
          .map(role -> ParameterSpec.weight(name + role, Shape.of(8, 8), 8))
          .toList();
    }

    @Override
    public List<BufferSpec> buffers() {
      return List.of();
    }

    @Override
    public List<Part> bindParts(Weights weights) {
      var in = weights.parameter(name + ".in");
      var out = weights.parameter(name + ".out");
      return List.of(
          new Part(
              name + "/in",
              (input, _) -> {
                Tensor seen = input.only().tanh();
                return Activations.of(seen.matmul(in), seen);
              }),
          new Part(
              name + "/square",
              (input, _) -> {
                runs.add("body");
                Tensor squared = input.tensors().getFirst().square();
                return Activations.of(squared, input.tensors().get(1));
              },
              function),
          new Part(
              name + "/out",
              (input, _) ->
                  Activations.of(
                      input.tensors().getFirst().matmul(out).add(input.tensors().get(1)))));
    }
  }

  private record Chain(List<Segment> segments) implements Model {

    @Override
    public String name() {
      return "bent";
    }

    @Override
    public Objective objective() {
      return new Classification();
    }
  }

  private Model model() {
    return new Chain(
        IntStream.range(0, 4)
            .<Segment>mapToObj(i -> new Bent("layer" + i, runs, new Square()))
            .toList());
  }

  private Snapshot train(Strategy... with) {
    runs.clear();
    try (var trainer = trainer(with)) {
      for (int step = 0; step < STEPS; step++) {
        step(trainer, step);
      }
      return Snapshot.of(trainer);
    }
  }

  private Trainer trainer(Strategy... with) {
    return Trainer.on(World.solo())
        .model(model())
        .optimizer(new Sgd(0.05))
        .strategy(with)
        .threads(1)
        .build();
  }

  private static void step(Trainer trainer, int step) {
    try (var _ = TensorScope.open()) {
      int from = step % 10 * BATCH;
      trainer.step(POINTS.load(IntStream.range(from, from + BATCH).toArray()));
    }
  }

  @Test
  void theSpanAroundItIsRecomputedWithoutIt() {
    var plain = train();
    assertThat(runs).hasSize(4 * STEPS).containsOnly("body");

    assertThat(train(Recompute.every(1)).isSameAs(plain)).isTrue();
    assertThat(runs).hasSize(4 * STEPS + 3 * STEPS).containsOnly("body");

    assertThat(train(Recompute.every(1).keepingAttention()).isSameAs(plain)).isTrue();
    // The first pass records graphs to learn what gradients flow into; the last segment is kept.
    assertThat(runs.stream().filter("body"::equals)).hasSize(4 + 3 + (STEPS - 1));
    assertThat(runs.stream().filter("custom"::equals)).hasSize(3 * (STEPS - 1));
  }

  @Test
  void severalOfThemMayLieInOneSpan() {
    assertThat(train(Recompute.every(2).keepingAttention()).isSameAs(train())).isTrue();
    assertThat(train(Recompute.every(3).keepingAttention()).isSameAs(train())).isTrue();
  }

  @Test
  void itsGradientsAreTheOnesThatCount() {
    var plain = train();
    slope = 3;
    assertThat(train(Recompute.every(1).keepingAttention()).isSameAs(plain)).isFalse();
  }

  /** What is kept has 15 KiB here, three times a step. */
  @Test
  void nothingOfItIsLeftBehind() {
    try (var trainer = trainer(Recompute.every(1).keepingAttention())) {
      stepWithAll(trainer, 20);
      long before = LeakProbe.settledBytes();
      stepWithAll(trainer, 120);
      assertThat(LeakProbe.settledBytes() - before).as("5.4 MB if kept").isLessThan(3L << 20);
    }
  }

  private static void stepWithAll(Trainer trainer, int times) {
    for (int i = 0; i < times; i++) {
      try (var _ = TensorScope.open()) {
        trainer.step(POINTS.load(IntStream.range(0, 480).toArray()));
      }
    }
  }

  @Test
  void aPlanDecidesByItself() {
    assertThatThrownBy(() -> Recompute.auto(1 << 20).keepingAttention())
        .hasMessageContaining("keep_attention")
        .hasMessageContaining("goes with every or named checkpoints");
  }
}
