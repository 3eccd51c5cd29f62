package dev.flotilla.optim;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.memory.ComputeDevice;
import dev.flotilla.memory.StateMemory;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.memory.Tensors;
import dev.flotilla.optim.ParameterGroup.Extent;
import dev.flotilla.optim.ParameterGroup.Slice;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.ObjectMapper;

/**
 * Compares every optimizer with what PyTorch's, or timm's, computed in float64 with the same
 * gradients; optimizers.py has written it.
 */
class RecordedOptimizersTests {

  private static final int STEPS = 50;
  private static final int LENGTH = 48;

  /** Where parameters lie, with gaps as an arena has them. */
  private static final Map<String, Extent> PLACES =
      Map.of(
          "weight", new Extent(0, 20),
          "zero", new Extent(24, 6),
          "bias", new Extent(32, 5));

  private static JsonNode recorded = new ObjectMapper().createObjectNode();

  record Row(String name, Optimizer optimizer) {
    @Override
    public String toString() {
      return name;
    }
  }

  static List<Row> rows() {
    var betas = List.of(0.8, 0.99);
    var adam = new Adam(0.01, betas, 1e-7, 0.05);
    var adamW = new AdamW(0.01, betas, 1e-7, 0.05);
    return List.of(
        new Row("sgd", new Sgd(0.1, 0.05)),
        new Row("momentum", new Momentum(0.1, 0.9, false, 0.05)),
        new Row("nesterov", new Momentum(0.1, 0.9, true, 0.05)),
        new Row("adam", adam),
        new Row("adam, amsgrad", adam.withAmsgrad()),
        new Row("adamw", adamW),
        new Row("adamw, amsgrad", adamW.withAmsgrad()),
        new Row("rmsprop", new RmsProp(0.01)),
        new Row("rmsprop, decay", new RmsProp(0.01, 0.9, 1e-6, 0, false, 0.05)),
        new Row("rmsprop, momentum", new RmsProp(0.01, 0.9, 1e-6, 0.9, false, 0.05)),
        new Row("rmsprop, centered", new RmsProp(0.01, 0.9, 1e-6, 0, true, 0.05)),
        new Row("rmsprop, centered, momentum", new RmsProp(0.01, 0.9, 1e-6, 0.9, true, 0.05)),
        new Row("adagrad", new Adagrad(0.1)),
        new Row("adagrad, all settings", new Adagrad(0.1, 0.02, 0.1, 1e-7, 0.05)),
        new Row("lamb", new Lamb(0.01, betas, 1e-7, 0.05, false, false)),
        new Row("lamb, always", new Lamb(0.01, betas, 1e-7, 0.05, false, true)),
        new Row("lamb, clipped ratio", new Lamb(0.01, betas, 1e-7, 0.05, true, false)),
        new Row("lars", new Lars(1, 0.9, false, 0.02, 1e-6, 0.05, false, false)),
        new Row("lars, nesterov, always", new Lars(1, 0.9, true, 0.02, 1e-6, 0.05, false, true)),
        new Row("lars, clipped ratio", new Lars(0.02, 0.9, false, 0.02, 1e-6, 0.05, true, false)),
        new Row("lars without momentum", new Lars(1, 0, false, 0.02, 1e-6, 0.05, false, false)),
        new Row("lion", new Lion(0.01)),
        new Row("lion, decay", new Lion(0.01, List.of(0.8, 0.95), 0.05)));
  }

  @BeforeAll
  static void read() throws IOException {
    try (var file = RecordedOptimizersTests.class.getResourceAsStream("optimizers.json")) {
      recorded = new ObjectMapper().readTree(Objects.requireNonNull(file)).get("cases");
    }
  }

  @Test
  void everyRecordedRuleIsCompared() {
    assertThat(rows().stream().map(Row::name))
        .containsExactlyInAnyOrderElementsOf(recorded.propertyNames());
  }

  @ParameterizedTest
  @MethodSource("rows")
  void equalsWhatWasRecorded(Row row) {
    try (var _ = TensorScope.open()) {
      var values = zeros();
      var gradients = zeros();
      fill(values, "weight", "weight", 1);
      fill(values, "bias", "bias", 1);
      double decay = row.optimizer().weightDecay();
      var decayed = group(values, gradients, List.of("weight", "zero"), decay);
      var others = group(values, gradients, List.of("bias"), 0);
      try (var bound = row.optimizer().bind(List.of(decayed, others))) {
        for (int step = 0; step < STEPS; step++) {
          for (var name : PLACES.keySet()) {
            fill(gradients, name, name + "/" + step, step % 7 == 3 ? 10 : 1);
          }
          bound.update(row.optimizer().lr() * (1 - 0.01 * step));
          compare(values, recorded.get(row.name()).path(Integer.toString(step + 1)));
        }
      }
      assertThat(gap(values)).as("what lies between parameters").isZero();
    }
  }

  private static Tensor zeros() {
    return Tensors.zeros(torch.ScalarType.Double, LENGTH);
  }

  /** One slice over all parameters of a group, as neighbours share it. */
  private static ParameterGroup group(
      Tensor values, Tensor gradients, List<String> names, double decay) {
    var extents = names.stream().map(RecordedOptimizersTests::place).toList();
    long first = extents.getFirst().offset();
    long length = extents.getLast().offset() + extents.getLast().length() + 2 - first;
    var slice =
        new Slice(values.narrow(0, first, length), gradients.narrow(0, first, length), first);
    return new ParameterGroup(
        List.of(slice),
        extents,
        GroupValues.ofWeightDecay(decay),
        StateMemory.on(ComputeDevice.CPU));
  }

  private static Extent place(String name) {
    return Objects.requireNonNull(PLACES.get(name));
  }

  private static void fill(Tensor arena, String name, String source, double factor) {
    var place = place(name);
    var numbers = new double[(int) place.length()];
    for (int i = 0; i < numbers.length; i++) {
      numbers[i] = uniform(source, i) * factor;
    }
    arena.narrow(0, place.offset(), place.length()).copy_(Tensors.ofDoubles(numbers));
  }

  private static double uniform(String name, long index) {
    long z = 0xCBF29CE484222325L;
    for (char c : name.toCharArray()) {
      z = (z ^ c) * 0x100000001B3L;
    }
    z += index + 0x9E3779B97F4A7C15L;
    z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
    z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
    z ^= z >>> 31;
    return (z >>> 40) / 0x1p24 - 0.5;
  }

  private static void compare(Tensor values, JsonNode expected) {
    for (var name : expected.propertyNames()) {
      var place = place(name);
      for (int i = 0; i < place.length(); i++) {
        double ours = values.select(0, place.offset() + i).item_double();
        double theirs = expected.get(name).get(i).doubleValue();
        assertThat(Math.abs(ours - theirs))
            .as("%s[%d] is %s, PyTorch's %s", name, i, ours, theirs)
            .isLessThanOrEqualTo(1e-12 * Math.max(1, Math.abs(theirs)));
      }
    }
  }

  private static double gap(Tensor values) {
    return values.narrow(0, 20, 4).abs().max().item_double()
        + values.narrow(0, 30, 2).abs().max().item_double()
        + values.narrow(0, 37, LENGTH - 37).abs().max().item_double();
  }
}
