package dev.flotilla.metric;

import dev.flotilla.data.Batch;
import dev.flotilla.data.Dataset;
import dev.flotilla.memory.Tensors;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Outputs and targets that metrics.py has written, as data whose inputs are the outputs. */
record Fixture(JsonNode node, int size) implements Dataset {

  static Fixture named(String name) {
    try (var in = Fixture.class.getResourceAsStream("metrics.json")) {
      var node = JsonMapper.shared().readTree(Objects.requireNonNull(in)).get(name);
      return new Fixture(node, node.get("outputs").size());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns the first samples alone. */
  Fixture first(int samples) {
    return new Fixture(node, samples);
  }

  Map<String, Double> values() {
    Map<String, Double> values = new LinkedHashMap<>();
    node.get("values")
        .properties()
        .forEach(it -> values.put(it.getKey(), it.getValue().asDouble()));
    return values;
  }

  List<List<Long>> confusionMatrix() {
    List<List<Long>> rows = new ArrayList<>();
    for (var row : node.get("confusion_matrix")) {
      List<Long> cells = new ArrayList<>();
      row.forEach(cell -> cells.add(cell.asLong()));
      rows.add(cells);
    }
    return rows;
  }

  @Override
  public Batch load(int[] samples) {
    var targets = node.get("targets");
    return new Batch(
        List.of(matrix(node.get("outputs"), samples)),
        targets.get(0).isArray()
            ? matrix(targets, samples)
            : Tensors.ofLongs(
                Arrays.stream(samples).mapToLong(i -> targets.get(i).asLong()).toArray()),
        samples.length);
  }

  private static Tensor matrix(JsonNode rows, int[] samples) {
    int width = rows.get(0).size();
    var numbers = new double[samples.length * width];
    Arrays.setAll(numbers, i -> rows.get(samples[i / width]).get(i % width).asDouble());
    return Tensors.ofDoubles(numbers).to(torch.ScalarType.Double).reshape(samples.length, width);
  }
}
