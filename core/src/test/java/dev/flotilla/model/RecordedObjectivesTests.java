package dev.flotilla.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.flotilla.data.Batch;
import dev.flotilla.memory.NativeView;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.memory.Tensors;
import dev.flotilla.settings.ConfigException;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.ObjectMapper;

/**
 * Compares losses, counts and gradients with what PyTorch computed; objectives.py has written it.
 */
class RecordedObjectivesTests {

  private static final List<Double> WEIGHTS = List.of(0.5, 1.0, 2.0, 0.0);

  private static final Map<String, Objective> OBJECTIVES =
      Map.ofEntries(
          Map.entry("plain", new CrossEntropy(0, List.of(), null)),
          Map.entry("smoothing", new CrossEntropy(0.1, List.of(), null)),
          Map.entry("weights", new CrossEntropy(0, WEIGHTS, null)),
          Map.entry("weights, smoothing", new CrossEntropy(0.1, WEIGHTS, null)),
          Map.entry("ignored", new CrossEntropy(0, List.of(), -100L)),
          Map.entry("all", new CrossEntropy(0.2, WEIGHTS, -100L)),
          Map.entry("pixels", new CrossEntropy(0, List.of(), 1L)),
          Map.entry("binary", new BinaryCrossEntropy()),
          Map.entry("binary, whole", new BinaryCrossEntropy()),
          Map.entry("binary, weight", new BinaryCrossEntropy(List.of(2.5))),
          Map.entry("binary, weights", new BinaryCrossEntropy(List.of(3.0, 0.5))),
          Map.entry("weighted mean", new CrossEntropy(0, WEIGHTS, null, true)),
          Map.entry("weighted mean, all", new CrossEntropy(0.2, WEIGHTS, -100L, true)),
          Map.entry(
              "two at once",
              new WeightedSum(
                  new WeightedSum.Term(new CrossEntropy(0, List.of(), -100L), 1, 0, 0),
                  new WeightedSum.Term(new CrossEntropy(0, WEIGHTS, -100L, true), 0.5, 0, 0))),
          Map.entry("squared", new SquaredError()),
          Map.entry("absolute", new AbsoluteError()),
          Map.entry("huber", new HuberLoss(0.7)));

  record Row(String name, JsonNode recorded) {
    @Override
    public String toString() {
      return name;
    }
  }

  static Stream<Row> rows() throws IOException {
    try (var file = RecordedObjectivesTests.class.getResourceAsStream("objectives.json")) {
      return new ObjectMapper()
          .readTree(Objects.requireNonNull(file))
          .get("cases")
          .valueStream()
          .map(it -> new Row(it.get("name").asString(), it));
    }
  }

  @Test
  void everyObjectiveIsCompared() throws IOException {
    assertThat(rows().map(Row::name)).containsExactlyInAnyOrderElementsOf(OBJECTIVES.keySet());
  }

  @ParameterizedTest
  @MethodSource("rows")
  void equalsWhatWasRecorded(Row row) {
    var recorded = row.recorded();
    try (var _ = TensorScope.open()) {
      var outputs =
          Tensors.ofDoubles(numbers(recorded.get("outputs")))
              .view(shape(recorded.get("shape")))
              .set_requires_grad(true);
      var targets = targets(recorded);
      var batch = new Batch(List.of(), targets, (int) targets.size(0));
      var objective = Objects.requireNonNull(OBJECTIVES.get(row.name()));
      var loss = objective.loss(Activations.of(outputs), batch);
      assertThat(loss.count()).isEqualTo(recorded.get("count").longValue());
      assertClose(loss.sum().item_double(), recorded.get("sum").doubleValue());
      loss.sum().backward();
      var gradient = NativeView.of(outputs.grad().contiguous()).toArray(ValueLayout.JAVA_DOUBLE);
      var expected = numbers(recorded.get("gradient"));
      assertThat(gradient).hasSameSizeAs(expected);
      IntStream.range(0, expected.length).forEach(i -> assertClose(gradient[i], expected[i]));
    }
  }

  private static Tensor targets(JsonNode recorded) {
    var numbers = Tensors.ofDoubles(numbers(recorded.get("targets")));
    var type =
        recorded.get("whole").booleanValue() ? torch.ScalarType.Long : torch.ScalarType.Double;
    return numbers.view(shape(recorded.get("target_shape"))).to(type);
  }

  private static double[] numbers(JsonNode list) {
    return list.valueStream().mapToDouble(JsonNode::doubleValue).toArray();
  }

  private static long[] shape(JsonNode list) {
    return list.valueStream().mapToLong(JsonNode::longValue).toArray();
  }

  private static void assertClose(double ours, double theirs) {
    assertThat(Math.abs(ours - theirs)).isLessThanOrEqualTo(1e-12 * Math.max(1, Math.abs(theirs)));
  }

  private record Uncounted() implements Objective {

    @Override
    public LossTerms loss(Activations outputs, Batch batch) {
      return new LossTerms(outputs.only().sum(), 1);
    }

    @Override
    public Score score(Activations outputs, Batch batch) {
      return Score.NONE;
    }
  }

  private static void loss(Objective objective, Tensor outputs, Tensor targets) {
    var _ = objective.loss(Activations.of(outputs), new Batch(List.of(), targets, 2));
  }

  @Test
  void shapesThatDoNotFitAreNamed() {
    try (var _ = TensorScope.open()) {
      var numbers = Tensors.zeros(torch.ScalarType.Double, 2, 1);
      var classes = Tensors.zeros(torch.ScalarType.Long, 2);
      var logits = Tensors.zeros(torch.ScalarType.Double, 2, 3);
      for (var objective :
          List.of(new BinaryCrossEntropy(), new AbsoluteError(), new HuberLoss(1))) {
        assertThatThrownBy(() -> loss(objective, numbers, numbers.squeeze(1)))
            .hasMessageContaining("compares number by number, but targets have shape");
      }
      assertThatThrownBy(() -> loss(new CrossEntropy(0, List.of(), null), logits, logits))
          .hasMessageContaining("a class for each sample and place, but outputs have shape");
      assertThatThrownBy(() -> loss(new CrossEntropy(0, WEIGHTS, null), logits, classes))
          .hasMessageContaining("there are 4 class weights, but outputs for 3 classes");
      assertThatThrownBy(() -> loss(new BinaryCrossEntropy(List.of(1.0, 2.0)), logits, logits))
          .hasMessageContaining("there are 2 numbers in pos_weight, but 3 logits per sample");
      var second = new WeightedSum.Term(new HuberLoss(1), 1, 1, 0);
      assertThatThrownBy(() -> loss(new WeightedSum(second), logits, logits))
          .hasMessageContaining(
              "an objective is for output 1, counted from 0, but the model has 1");
      var other = new WeightedSum.Term(new HuberLoss(1), 1, 0, 1);
      assertThatThrownBy(() -> loss(new WeightedSum(other), logits, logits))
          .hasMessageContaining("the batch has 1 targets");
      var nested = new WeightedSum.Term(new Uncounted(), 1, 0, 0);
      assertThatThrownBy(() -> loss(new WeightedSum(nested), logits, logits))
          .hasMessageContaining("Uncounted does not say its count before forward");
    }
  }

  @Test
  void badNumbersAreRefused() {
    assertThatThrownBy(() -> new CrossEntropy(1, List.of(-1.0), null))
        .isInstanceOfSatisfying(ConfigException.class, e -> assertThat(e.problems()).hasSize(2));
    assertThatThrownBy(() -> new CrossEntropy(0, List.of(), null, true))
        .hasMessageContaining("weighted_mean: needs class_weights to divide by");
    assertThatThrownBy(() -> new BinaryCrossEntropy(List.of(0.0)))
        .hasMessageContaining("pos_weight: must be numbers greater than 0");
    assertThatThrownBy(() -> new WeightedSum())
        .hasMessageContaining("terms: must hold at least one objective");
    assertThatThrownBy(() -> new WeightedSum.Term(new HuberLoss(1), 0, -1, -1))
        .isInstanceOfSatisfying(ConfigException.class, e -> assertThat(e.problems()).hasSize(3));
    assertThatThrownBy(() -> new HuberLoss(0)).hasMessageContaining("delta: must be greater");
  }
}
