package dev.flotilla.strategy.recompute;

import static java.util.Collections.nCopies;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.flotilla.data.Dataset;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.model.Activations;
import dev.flotilla.model.Classification;
import dev.flotilla.model.FinalFunction;
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
import dev.flotilla.report.TrainingEvent;
import dev.flotilla.settings.ByteSize;
import dev.flotilla.settings.ConfigException;
import dev.flotilla.strategy.PlanRejectedException;
import dev.flotilla.strategy.Strategy;
import dev.flotilla.strategy.merge.GradientMerge;
import dev.flotilla.testkit.LeakProbe;
import dev.flotilla.testkit.Matrix;
import dev.flotilla.testkit.Snapshot;
import dev.flotilla.train.Trainer;
import dev.flotilla.train.TrainerBuilder;
import dev.flotilla.world.World;
import dev.flotilla.zoo.data.SyntheticImages;
import dev.flotilla.zoo.data.SyntheticTokens;
import dev.flotilla.zoo.data.TextTask;
import dev.flotilla.zoo.model.BertTiny;
import dev.flotilla.zoo.model.LeNet5;
import dev.flotilla.zoo.model.Mlp;
import dev.flotilla.zoo.model.Normalization;
import dev.flotilla.zoo.model.ResNet18;
import dev.flotilla.zoo.model.ResNet50;
import dev.flotilla.zoo.model.Stem;
import dev.flotilla.zoo.model.Vgg16;
import dev.flotilla.zoo.model.Vgg16Bn;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.bytedeco.pytorch.Tensor;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What is recomputed gives the same bits, whatever the model holds. */
class RecomputeTests {

  private static final int SAMPLES = 8;

  private final List<String> measured = new ArrayList<>();
  private final List<String> noted = new ArrayList<>();
  private Predicate<String> frozen = _ -> false;

  /** A model of the zoo at a size for tests, with data that it takes. */
  record Case(String name, Model model, Dataset data) {
    @Override
    public String toString() {
      return name;
    }
  }

  static Stream<Case> zoo() {
    return Stream.of(
        new Case("lenet5", new LeNet5(10), images(1, 32)),
        new Case("mlp with dropout", new Mlp(784, nCopies(8, 32), 10, 0.3), images(1, 28)),
        new Case(
            "resnet18",
            new ResNet18(10, Stem.CIFAR, Normalization.BATCH, 4, false, 8),
            images(3, 16)),
        new Case(
            "resnet18 with groups",
            new ResNet18(10, Stem.CIFAR, Normalization.GROUP, 4, false, 8),
            images(3, 16)),
        new Case(
            "resnet50",
            new ResNet50(10, Stem.IMAGENET, Normalization.BATCH, 4, false, 4),
            images(3, 32)),
        new Case("vgg16", new Vgg16(10, 0.5, 16, 4), images(3, 32)),
        new Case("vgg16_bn", new Vgg16Bn(10, 0.5, 16, 4), images(3, 32)),
        new Case("bert", new BertTiny(null, 1, 120, 32, 3, 4, 64, 24, 0.1, 0.1), tokens()));
  }

  static Stream<Case> someOfTheZoo() {
    return Matrix.some(4, zoo());
  }

  /** Between LeNet-5's segments next to nothing is saved that could be recomputed. */
  static Stream<Case> withRoomForPlans() {
    return someOfTheZoo().filter(example -> !example.name().equals("lenet5"));
  }

  private static Dataset images(int channels, int side) {
    return new SyntheticImages(channels, side, 10, 64, 8).train();
  }

  private static Dataset tokens() {
    return new SyntheticTokens(120, 24, 64, 8, TextTask.PRETRAINING, 2).train();
  }

  /** Trains three updates and returns weights and buffers. */
  private Snapshot train(Case example, Strategy... techniques) {
    var builder =
        Trainer.on(World.solo())
            .model(example.model())
            .optimizer(new Sgd(0.05))
            .strategy(techniques)
            .freeze(frozen)
            .events(
                event -> {
                  if (event instanceof TrainingEvent.Measured(var text)) {
                    measured.add(text);
                  } else if (event instanceof TrainingEvent.Noted(var text)) {
                    noted.add(text);
                  }
                })
            .threads(1);
    try (var trainer = builder.build()) {
      for (int step = 0; step < 6; step++) {
        try (var _ = TensorScope.open()) {
          int from = step * SAMPLES;
          trainer.step(example.data().load(IntStream.range(from, from + SAMPLES).toArray()));
        }
      }
      return Snapshot.of(trainer);
    }
  }

  @ParameterizedTest
  @MethodSource("zoo")
  void everySegmentRecomputedGivesTheSameBits(Case example) {
    assertSame(example, Recompute.every(1));
  }

  @ParameterizedTest
  @MethodSource("zoo")
  void attentionThatIsKeptGivesTheSameBits(Case example) {
    assertSame(example, Recompute.every(1).keepingAttention());
    assertThat(noted.stream().anyMatch(it -> it.contains("the model has no attention")))
        .isEqualTo(!example.name().equals("bert"));
  }

  /** Without dropout attention runs as one kernel on a CPU too, which then runs once. */
  @Test
  void attentionByOneKernelIsKeptAndGivesTheSameBits() {
    var bert = new Case("bert", new BertTiny(null, 1, 120, 32, 3, 4, 64, 24, 0.1, 0), tokens());
    assertSame(bert, Recompute.every(1).keepingAttention());
    assertSame(bert, Recompute.every(2).keepingAttention());
  }

  @ParameterizedTest
  @MethodSource("someOfTheZoo")
  void spansOfSegmentsRecomputedGiveTheSameBits(Case example) {
    assertSame(example, Recompute.every(2));
  }

  @ParameterizedTest
  @MethodSource("withRoomForPlans")
  void aFoundPlanGivesTheSameBits(Case example) {
    var merge = new GradientMerge(2);
    var planned = underAPlanThatRecomputes(example, merge);
    assertThat(planned.isSameAs(train(example, merge))).isTrue();
  }

  /**
   * Looks for the least budget under which there is a plan, which then has to recompute. The
   * compilers of the virtual machine take native memory as well and give it back, which counts in
   * models as small as these: a plan may find that all fits, or that nothing does, so the budget is
   * lowered and raised until one recomputes.
   */
  private Snapshot underAPlanThatRecomputes(Case example, GradientMerge merge) {
    long budget = 1;
    for (int attempt = 0; attempt < 200; attempt++) {
      measured.clear();
      try {
        var trained = train(example, merge, Recompute.auto(budget));
        if (measured.stream().anyMatch(text -> text.contains("recomputed"))) {
          return trained;
        }
        budget = Math.max(1, budget - Math.max(1, budget / 16));
      } catch (ConfigException e) {
        budget = leastOf(e);
      }
    }
    throw new AssertionError("no budget made a plan recompute: " + example);
  }

  private static long leastOf(ConfigException tooLittle) {
    var matcher =
        Pattern.compile("need at least ([0-9]+(?:[KMG]i?B)?)").matcher(tooLittle.getMessage());
    assertThat(matcher.find()).as(tooLittle.getMessage()).isTrue();
    return ByteSize.parse(matcher.group(1)).bytes();
  }

  /** Neither the products nor the first layer before them may have gradients. */
  @Test
  void whatIsFrozenGivesTheSameBits() {
    frozen =
        name ->
            name.startsWith("bert.embeddings")
                || name.startsWith("bert.encoder.layer.0")
                || name.contains("output.dense");
    assertSame(zoo().toList().getLast(), Recompute.every(1));
  }

  @ParameterizedTest
  @MethodSource("someOfTheZoo")
  void whatWaitedInAFileGivesTheSameBits(Case example) {
    assertSame(example, Recompute.every(1).offloaded());
  }

  private void assertSame(Case example, Recompute recompute) {
    var merge = new GradientMerge(2);
    var plain = train(example, merge);
    var recomputed = train(example, merge, recompute);
    assertThat(recomputed.isSameAs(plain)).isTrue();
  }

  /** What a profiling pass leaves behind would come again with each of these: 4 MiB each time. */
  @Test
  void profilingPassesLeaveNoMemoryBehind() {
    var example = new Case("vgg16", new Vgg16(10, 0.5, 16, 4), images(3, 32));
    train(example, Recompute.auto(1 << 30));
    long before = LeakProbe.settledBytes();
    for (int i = 0; i < 5; i++) {
      train(example, Recompute.auto(1 << 30));
    }
    assertThat(LeakProbe.settledBytes() - before).isLessThan(16L << 20);
  }

  @Test
  void aSegmentNobodyKnowsIsNamedWithTheNearestOne() {
    var builder = lenet(new Recompute("conv", "fc2"));
    assertThatThrownBy(builder::plan)
        .isInstanceOf(PlanRejectedException.class)
        .hasMessageContaining("conv, which is no segment")
        .hasMessageContaining("did you mean 'conv1'?")
        .hasMessageContaining("segments: conv1, conv2, fc1, fc2, fc3");
  }

  @Test
  void whatHasNoEffectIsSaid() {
    assertThat(lenet(new Recompute("fc3")).plan().warnings())
        .anySatisfy(issue -> assertThat(issue.toString()).contains("the last segment"));
    assertThat(lenet(Recompute.every(9)).plan().warnings())
        .anySatisfy(issue -> assertThat(issue.toString()).contains("no effect"));
  }

  @Test
  void emptyAndContradictoryChoicesAreRefused() {
    assertThatThrownBy(() -> new Recompute()).hasMessageContaining("at least one segment");
    assertThatThrownBy(() -> Recompute.every(0)).hasMessageContaining("every");
    assertThatThrownBy(() -> new Recompute("conv1", "conv1")).hasMessageContaining("twice");
    assertThatThrownBy(() -> new Recompute(null, 2, new ByteSize(1000), false, false, null))
        .hasMessageContaining("memory")
        .hasMessageContaining("auto only");
  }

  @Test
  void aBudgetThatIsTooSmallNamesTheSmallestOne() {
    var example = zoo().findFirst().orElseThrow();
    assertThatThrownBy(() -> train(example, Recompute.auto(1)))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining("strategy.recompute.memory")
        .hasMessageContaining("need at least");
  }

  private static TrainerBuilder lenet(Recompute recompute) {
    return Trainer.on(World.solo())
        .model(new LeNet5(10))
        .optimizer(new Sgd(0.05))
        .strategy(recompute);
  }

  private static Activations same(Activations input, ForwardMode mode) {
    return input;
  }

  private record OddSegment(String name, Segment.Forward forward) implements Segment {
    @Override
    public List<ParameterSpec> parameters() {
      return List.of(ParameterSpec.weight(name + ".weight", Shape.of(784, 784), 784));
    }

    @Override
    public Forward bind(Weights weights) {
      var weight = weights.parameter(name + ".weight");
      return (input, mode) ->
          Activations.of(forward.apply(input, mode).only().flatten(1, -1).matmul(weight));
    }
  }

  @Test
  void aSegmentThatChangesItsInputInPlaceIsNamed() {
    var example =
        new Case(
            "in place",
            new Chain(
                List.of(
                    new OddSegment("first", RecomputeTests::same),
                    new OddSegment("second", (input, _) -> Activations.of(input.only().relu_())),
                    new OddSegment("third", RecomputeTests::same))),
            images(1, 28));
    assertThatThrownBy(() -> train(example, Recompute.every(1)))
        .hasMessageContaining("second")
        .hasMessageContaining("in-place");
  }

  @Test
  void aRecomputationOfAnotherShapeIsNamed() {
    var example =
        new Case(
            "another shape",
            new Chain(
                List.of(
                    new OddSegment("first", RecomputeTests::same),
                    new Shrinking(),
                    new OddSegment("third", RecomputeTests::same))),
            images(1, 28));
    assertThatThrownBy(() -> train(example, Recompute.every(1)))
        .hasMessageContaining("shrinking gave")
        .hasMessageContaining("the first time");
  }

  private Case withFinalFunction(Segment.Forward body, FinalFunction last) {
    return new Case(
        "with a final function",
        new Chain(
            List.of(
                new OddSegment("first", RecomputeTests::same),
                new Ended(body, last),
                new OddSegment("third", RecomputeTests::same),
                new OddSegment("fourth", RecomputeTests::same))),
        images(1, 28));
  }

  @Test
  void aFinalFunctionOfOnesOwnGivesTheSameBits() {
    assertSame(
        withFinalFunction((input, _) -> Activations.of(input.only().relu()), new Doubling(1)),
        Recompute.every(1));
  }

  /** Behind the first one's final function its parameter is used, and in the second again. */
  @Test
  void aParameterOfTwoSegmentsGivesTheSameBitsWhereOneHasAFinalFunction() {
    var example =
        new Case(
            "tied",
            new Chain(
                List.of(
                    new Tied("first", true),
                    new Tied("second", false),
                    new OddSegment("third", RecomputeTests::same),
                    new OddSegment("fourth", RecomputeTests::same))),
            images(1, 28));
    assertSame(example, Recompute.every(1));
  }

  @Test
  void aRecomputationOfAnotherShapeBeforeAFinalFunctionIsNamed() {
    assertThatThrownBy(
            () -> train(withFinalFunction(Shrinking::forward, new Doubling(1)), Recompute.every(1)))
        .hasMessageContaining("ended gave")
        .hasMessageContaining("the first time");
  }

  /** Libtorch would sum eight rows of gradient into one. */
  @Test
  void aGradientOfAnotherShapeIsNamed() {
    assertThatThrownBy(
            () ->
                train(withFinalFunction(RecomputeTests::same, new Doubling(2)), Recompute.every(1)))
        .hasMessageContaining("the final function of ended gives a gradient of 16x784 Float")
        .hasMessageContaining("for a tensor of 8x784 Float");
  }

  /** Counts how often a matrix is multiplied by. */
  private record Counted(String name, AtomicInteger runs) implements Segment {
    @Override
    public List<ParameterSpec> parameters() {
      return List.of(ParameterSpec.weight(name + ".weight", Shape.of(784, 784), 784));
    }

    @Override
    public Forward bind(Weights weights) {
      var weight = weights.parameter(name + ".weight");
      return (input, _) -> {
        runs.incrementAndGet();
        return Activations.of(input.only().flatten(1, -1).matmul(weight).tanh());
      };
    }
  }

  @Test
  void aFrozenSpanRunsOnce() {
    var body = new AtomicInteger();
    var head = new AtomicInteger();
    var last = new AtomicInteger();
    var chain =
        new Chain(
            List.of(
                new Counted("body", body), new Counted("head", head), new Counted("last", last)));
    frozen = name -> name.startsWith("body");
    train(new Case("chain", chain, images(1, 28)), Recompute.every(1));
    assertThat(body).hasValue(6);
    assertThat(head).hasValue(12);
    assertThat(last).hasValue(6);
  }

  private record Chain(List<Segment> segments) implements Model {
    @Override
    public String name() {
      return "chain";
    }

    @Override
    public Objective objective() {
      return new Classification();
    }
  }

  /** Multiplies by a matrix that another segment has too, after a final function if it has one. */
  private record Tied(String name, boolean hasFinalFunction) implements PartedSegment {
    @Override
    public List<ParameterSpec> parameters() {
      return List.of(ParameterSpec.weight("shared.weight", Shape.of(784, 784), 784));
    }

    @Override
    public List<Part> bindParts(Weights weights) {
      var weight = weights.parameter("shared.weight");
      Forward multiply =
          (input, _) -> Activations.of(input.only().flatten(1, -1).matmul(weight).tanh());
      var last = new Part(name + "/last", multiply);
      return hasFinalFunction
          ? List.of(new Part(name + "/first", multiply, new Doubling(1)), last)
          : List.of(last);
    }
  }

  private record Ended(Segment.Forward body, FinalFunction last) implements PartedSegment {
    @Override
    public String name() {
      return "ended";
    }

    @Override
    public List<ParameterSpec> parameters() {
      return List.of();
    }

    @Override
    public List<Part> bindParts(Weights weights) {
      return List.of(new Part(name(), body, last));
    }
  }

  /** x ↦ x + x, with its gradient so many times. */
  private record Doubling(int times) implements FinalFunction {
    @Override
    public Activations apply(Activations body, ForwardMode mode) {
      return Activations.of(body.only().add(body.only()));
    }

    @Override
    public List<Gradient> backward(Activations body, List<Tensor> gradients) {
      var twice = gradients.getFirst().add(gradients.getFirst());
      return List.of(new Gradient(body.only(), twice.repeat(times, 1)));
    }
  }

  /** Gives fewer samples when it is asked again. */
  private record Shrinking() implements Segment {
    @Override
    public String name() {
      return "shrinking";
    }

    @Override
    public List<ParameterSpec> parameters() {
      return List.of();
    }

    @Override
    public Forward bind(Weights weights) {
      return Shrinking::forward;
    }

    static Activations forward(Activations input, ForwardMode mode) {
      return Activations.of(
          mode == ForwardMode.RECOMPUTE ? input.only().narrow(0, 0, 1) : input.only().relu());
    }
  }
}
