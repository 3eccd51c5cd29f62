package dev.flotilla.zoo.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.flotilla.memory.NativeView;
import dev.flotilla.memory.Precision;
import dev.flotilla.memory.TensorScope;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.ValueLayout;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * What Python's PyTorch computed for a model in float64, written by {@code references.py}.
 *
 * @param root the fixture
 * @param tolerance largest relative difference
 */
record Reference(JsonNode root, double tolerance) {

  /** Reads a fixture; a missing one fails the test. */
  static Reference of(String name, Precision precision) {
    String file = "references/" + name + ".json";
    try (var in = Reference.class.getResourceAsStream(file)) {
      assertThat(in).as(file + ", which zoo/src/test/python/references.py writes").isNotNull();
      double tolerance = precision == Precision.FLOAT64 ? 1e-8 : 1e-4;
      return new Reference(JsonMapper.shared().readTree(in), tolerance);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  int whole(String key) {
    return root.required(key).asInt();
  }

  double real(String key) {
    return root.required(key).asDouble();
  }

  /** Checks names and shapes against those of Python's state dict. */
  void requireNames(Map<String, Tensor> state) {
    Map<String, String> expected = new TreeMap<>();
    root.required("names").forEachEntry((name, shape) -> expected.put(name, shape.toString()));
    Map<String, String> actual = new TreeMap<>();
    state.forEach(
        (name, tensor) ->
            actual.put(name, java.util.Arrays.toString(tensor.shape()).replace(" ", "")));
    assertThat(actual).isEqualTo(expected);
  }

  /** Checks shape, first values and norm of a tensor. */
  void requireValues(String key, Tensor tensor) {
    var expected = root.required(key);
    assertThat(java.util.Arrays.toString(tensor.shape()).replace(" ", ""))
        .isEqualTo(expected.required("shape").toString());
    double norm = expected.required("norm").asDouble();
    requireClose(key + " norm", norm(tensor), norm, 0);
    double[] values = doubles(tensor);
    var first = expected.required("first");
    double difference = 0;
    for (int i = 0; i < first.size(); i++) {
      difference = Math.hypot(difference, values[i] - first.get(i).asDouble());
    }
    // As a vector: a value near zero is as exact as its neighbours, not as its own size.
    double size = norm * Math.sqrt((double) first.size() / values.length);
    assertThat(difference / size).as(key + ", first values").isLessThan(tolerance);
  }

  /** Checks one number. */
  void requireNumber(String key, double actual) {
    requireClose(key, actual, real(key), 0);
  }

  /** Checks the norm of each tensor. */
  void requireNorms(String key, Map<String, Tensor> tensors) {
    var expected = root.required(key);
    Map<String, Double> norms = new TreeMap<>();
    expected.forEachEntry((name, norm) -> norms.put(name, norm.asDouble()));
    // Some gradients are zero but for rounding, such as that of a bias before BatchNorm.
    double largest = norms.values().stream().mapToDouble(Double::doubleValue).max().orElseThrow();
    norms.forEach(
        (name, norm) -> {
          assertThat(tensors).containsKey(name);
          requireClose(name, norm(Objects.requireNonNull(tensors.get(name))), norm, 1e-2 * largest);
        });
  }

  private void requireClose(String what, double actual, double expected, double least) {
    double scale = Math.max(least, Math.abs(expected));
    assertThat(actual).as(what).isCloseTo(expected, within(tolerance * scale));
  }

  private static double norm(Tensor tensor) {
    double sum = 0;
    for (double value : doubles(tensor)) {
      sum += value * value;
    }
    return Math.sqrt(sum);
  }

  static double[] doubles(Tensor tensor) {
    try (var _ = TensorScope.open()) {
      var dense = tensor.detach().to(torch.ScalarType.Double).contiguous();
      return NativeView.of(dense).toArray(ValueLayout.JAVA_DOUBLE);
    }
  }
}
