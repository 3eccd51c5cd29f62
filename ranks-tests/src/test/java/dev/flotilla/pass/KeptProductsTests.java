package dev.flotilla.pass;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.flotilla.memory.TensorScope;
import dev.flotilla.model.Activations;
import dev.flotilla.model.AutogradFunction;
import dev.flotilla.model.BufferSpec;
import dev.flotilla.model.Classification;
import dev.flotilla.model.Model;
import dev.flotilla.model.Objective;
import dev.flotilla.model.ParameterSpec;
import dev.flotilla.model.Products;
import dev.flotilla.model.Segment;
import dev.flotilla.model.Shape;
import dev.flotilla.model.Weights;
import dev.flotilla.optim.Sgd;
import dev.flotilla.report.TrainingEvent;
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
import org.bytedeco.pytorch.NoGradGuard;
import org.bytedeco.pytorch.Tensor;
import org.junit.jupiter.api.Test;

/** Products that were kept are not computed again in recomputation. */
class KeptProductsTests {

  private static final ColouredPoints POINTS = new ColouredPoints(480, 8, 4);
  private static final int BATCH = 32;
  private static final int STEPS = 4;
  private static final int LAYERS = 5;

  /** Two products of a layer, each 32 x 8 floats. */
  private static final long LAYER = 2 * 4 * 8 * BATCH;

  private final List<String> multiplied = new ArrayList<>();
  private final List<String> noted = new ArrayList<>();

  /** x → tanh(tanh(x A) B). */
  private record Layer(String name, List<String> multiplied) implements Segment {

    @Override
    public List<ParameterSpec> parameters() {
      return List.of(
          ParameterSpec.weight(name + ".a", Shape.of(8, 8), 8),
          ParameterSpec.weight(name + ".b", Shape.of(8, 8), 8));
    }

    @Override
    public List<BufferSpec> buffers() {
      return List.of();
    }

    @Override
    public Forward bind(Weights weights) {
      var a = weights.parameter(name + ".a");
      var b = weights.parameter(name + ".b");
      return (input, _) -> Activations.of(product(product(input.only(), a).tanh(), b).tanh());
    }

    private Tensor product(Tensor input, Tensor matrix) {
      Tensor output;
      try (var scope = TensorScope.open();
          var _ = new NoGradGuard()) {
        output =
            scope.handOut(
                Products.of(
                    () -> {
                      multiplied.add(name);
                      return input.matmul(matrix);
                    }));
      }
      Tensor seen = input.detach();
      AutogradFunction.record(
          List.of(input, matrix),
          List.of(output),
          List.of(seen),
          gradients -> {
            Tensor gradient = gradients.getFirst();
            return List.of(gradient.matmul(matrix.t()), seen.t().matmul(gradient));
          });
      return output;
    }
  }

  private record Chain(List<Segment> segments) implements Model {

    @Override
    public String name() {
      return "layers";
    }

    @Override
    public Objective objective() {
      return new Classification();
    }
  }

  private Trainer trainer(Strategy... with) {
    var layers =
        IntStream.range(0, LAYERS)
            .<Segment>mapToObj(i -> new Layer("layer" + i, multiplied))
            .toList();
    return Trainer.on(World.solo())
        .model(new Chain(layers))
        .optimizer(new Sgd(0.05))
        .strategy(with)
        .events(
            event -> {
              if (event instanceof TrainingEvent.Noted(var text)) {
                noted.add(text);
              }
            })
        .threads(1)
        .build();
  }

  private Snapshot train(Strategy... with) {
    multiplied.clear();
    noted.clear();
    try (var trainer = trainer(with)) {
      for (int step = 0; step < STEPS; step++) {
        step(trainer, step);
      }
      return Snapshot.of(trainer);
    }
  }

  private static void step(Trainer trainer, int step) {
    try (var _ = TensorScope.open()) {
      int from = step % 10 * BATCH;
      trainer.step(POINTS.load(IntStream.range(from, from + BATCH).toArray()));
    }
  }

  private long times(int layer) {
    return multiplied.stream().filter(("layer" + layer)::equals).count();
  }

  @Test
  void thoseOfTheLastSpansAreKept() {
    var plain = train();
    assertThat(multiplied).hasSize(2 * LAYERS * STEPS);

    assertThat(train(Recompute.every(1)).isSameAs(plain)).isTrue();
    assertThat(IntStream.range(0, LAYERS).mapToLong(this::times))
        .containsExactly(4L * STEPS, 4L * STEPS, 4L * STEPS, 4L * STEPS, 2L * STEPS);

    // Room for one layer and a half; a first pass has a graph and keeps none.
    var half = Recompute.every(1).keepingProducts(LAYER + LAYER / 2);
    assertThat(train(half).isSameAs(plain)).isTrue();
    assertThat(IntStream.range(0, LAYERS).mapToLong(this::times))
        .containsExactly(4L * STEPS, 4L * STEPS, 3L * STEPS + 1, 2L * STEPS + 2, 2L * STEPS);
    assertThat(noted).isEmpty();
  }

  @Test
  void spansOfSeveralSegmentsKeepThemToo() {
    var plain = train();
    assertThat(train(Recompute.every(2).keepingProducts(3 * LAYER)).isSameAs(plain)).isTrue();
    assertThat(train(Recompute.every(2).keepingProducts(3 * LAYER).offloaded()).isSameAs(plain))
        .isTrue();
    // The first span has two layers, of which the second one's are still there.
    assertThat(times(0)).isEqualTo(4L * STEPS);
    assertThat(times(1)).isEqualTo(2L * STEPS + 2);
  }

  @Test
  void roomForNoneIsSaid() {
    assertThat(train(Recompute.every(1).keepingProducts(1)).isSameAs(train())).isTrue();
    train(Recompute.every(1).keepingProducts(1));
    assertThat(noted).singleElement().asString().contains("recompute.keep_products has no effect");
  }

  @Test
  void aPlanDecidesByItself() {
    assertThatThrownBy(() -> Recompute.auto(1 << 20).keepingProducts(1000))
        .hasMessageContaining("keep_products")
        .hasMessageContaining("goes with every or named checkpoints");
  }

  /** What is kept has 15 KiB a product here, eight times a step. */
  @Test
  void nothingOfItIsLeftBehind() {
    try (var trainer = trainer(Recompute.every(1).keepingProducts(1 << 20))) {
      stepWithAll(trainer, 20);
      long before = LeakProbe.settledBytes();
      stepWithAll(trainer, 100);
      assertThat(LeakProbe.settledBytes() - before).as("12 MB if kept").isLessThan(4L << 20);
    }
  }

  private static void stepWithAll(Trainer trainer, int times) {
    for (int i = 0; i < times; i++) {
      try (var _ = TensorScope.open()) {
        trainer.step(POINTS.load(IntStream.range(0, 480).toArray()));
      }
    }
  }
}
