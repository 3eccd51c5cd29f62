package dev.flotilla.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.flotilla.optim.AdamW;
import dev.flotilla.train.Trainer;
import dev.flotilla.world.World;
import dev.flotilla.zoo.model.Mlp;
import dev.flotilla.zoo.table.Columns;
import dev.flotilla.zoo.table.Csv;
import dev.flotilla.zoo.table.TableFile;
import dev.flotilla.zoo.table.TableTask;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * A table gives what PyTorch reaches with the same rows and settings, by {@code breast_cancer.py}:
 * seeds draw other numbers there, so that means over five of them are compared.
 */
final class TablesLearnAsInPythonTests {

  private static final double HALF_A_POINT = 0.005;

  @ParameterizedTest
  @CsvSource({"logistic, 0", "mlp, 16"})
  void fiveSeedsReachThePythonAccuracy(String name, int hidden) throws IOException {
    var python = fixture();
    var settings = python.get("settings");
    var table = table(settings);
    assertThat(table.test().size()).isEqualTo(python.get("test_rows").asInt());
    var model = new Mlp(30, hidden == 0 ? List.of() : List.of(hidden), 2);
    double sum = 0;
    for (var seed : settings.get("seeds")) {
      sum += accuracy(table, model, settings, seed.asLong());
    }
    double wanted = 0;
    for (var accuracy : python.get(name)) {
      wanted += accuracy.asDouble();
    }
    assertThat(sum / 5).isCloseTo(wanted / 5, within(HALF_A_POINT));
  }

  private static Csv table(JsonNode settings) {
    return new Csv(
        TableFile.of(Path.of("breast-cancer.csv")),
        null,
        settings.get("test_fraction").asDouble(),
        settings.get("split_seed").asLong(),
        "diagnosis",
        TableTask.CLASSIFICATION,
        List.of(),
        Columns.all(),
        null,
        ",",
        null);
  }

  private static double accuracy(Csv table, Mlp model, JsonNode settings, long seed) {
    var optimizer =
        new AdamW(
            settings.get("lr").asDouble(),
            List.of(0.9, 0.999),
            1e-8,
            settings.get("weight_decay").asDouble());
    // PyTorch's weight decay takes biases, too.
    try (var trainer =
        Trainer.on(World.solo())
            .model(model)
            .optimizer(optimizer)
            .noDecay(_ -> false)
            .seed(seed)
            .threads(1)
            .build()) {
      var batches = table.train().batches(settings.get("batch").asInt()).shuffled(seed);
      return trainer.fit(batches, settings.get("epochs").asInt()).accuracyOn(table.test());
    }
  }

  private static JsonNode fixture() throws IOException {
    var name = "breast-cancer-pytorch.json";
    try (var in = TablesLearnAsInPythonTests.class.getResourceAsStream(name)) {
      return JsonMapper.shared().readTree(Objects.requireNonNull(in).readAllBytes());
    }
  }
}
