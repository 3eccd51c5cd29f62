package dev.flotilla.parquet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.jerolba.carpet.CarpetWriter;
import dev.flotilla.config.Catalogue;
import dev.flotilla.config.Recipe;
import dev.flotilla.config.RunConfig;
import dev.flotilla.data.DataSource;
import dev.flotilla.data.Dataset;
import dev.flotilla.memory.NativeView;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.settings.ConfigException;
import dev.flotilla.zoo.table.Columns;
import dev.flotilla.zoo.table.Csv;
import dev.flotilla.zoo.table.Missing;
import dev.flotilla.zoo.table.Parquet;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A Parquet file is the same table as a CSV file with the same cells. */
final class ParquetTests {

  @TempDir Path folder;

  /** A row; what may be null is optional in the file. */
  record Row(double a, int b, @Nullable Float c, String colour, boolean isNew, String y) {}

  private List<Row> rows() {
    List<Row> rows = new ArrayList<>();
    for (int i = 0; i < 50; i++) {
      String colour = List.of("red", "green", "blue").get(i % 3);
      rows.add(new Row(i / 7.0, i * i, i / 3f, colour, i % 2 == 0, i % 5 == 0 ? "p" : "q"));
    }
    return rows;
  }

  private Path write(List<Row> rows) throws IOException {
    var file = folder.resolve("t.parquet");
    try (var out = Files.newOutputStream(file);
        var writer = new CarpetWriter<>(out, Row.class)) {
      writer.write(rows);
    }
    return file;
  }

  private Path writeCsv(List<Row> rows) throws IOException {
    var text = new StringBuilder("a,b,c,colour,isNew,y\n");
    for (var row : rows) {
      text.append("%s,%d,%s,".formatted(row.a(), row.b(), row.c() == null ? "" : row.c()))
          .append("%s,%s,%s\n".formatted(row.colour(), row.isNew(), row.y()));
    }
    return Files.writeString(folder.resolve("t.csv"), text);
  }

  private static List<Object> values(Dataset data) {
    try (var _ = TensorScope.open()) {
      var batch = data.load(IntStream.range(0, data.size()).toArray());
      return List.of(
          Arrays.toString(NativeView.of(batch.inputs().getFirst()).toArray(ValueLayout.JAVA_FLOAT)),
          Arrays.toString(NativeView.of(batch.targets()).toArray(ValueLayout.JAVA_LONG)));
    }
  }

  private static void assertSame(DataSource parquet, DataSource csv) {
    assertThat(parquet.form()).isEqualTo(csv.form()).isPresent();
    assertThat(values(parquet.train())).isEqualTo(values(csv.train()));
    assertThat(values(parquet.test())).isEqualTo(values(csv.test()));
  }

  @Test
  void theTableIsThatOfACsvFile() throws IOException {
    assertSame(Parquet.of(write(rows()), "y"), Csv.of(writeCsv(rows()), "y"));
  }

  @Test
  void missingValuesAreThoseOfACsvFile() throws IOException {
    var rows = rows();
    rows.set(3, new Row(1, 2, null, "red", true, "p"));
    var columns = Columns.all().withMissing(Missing.MEAN);
    var parquet = Parquet.of(write(rows), "y");
    assertThatThrownBy(parquet::check)
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining("t.parquet, row 4, column 'c': the value is missing");
    assertSame(parquet.withColumns(columns), Csv.of(writeCsv(rows), "y").withColumns(columns));
  }

  @Test
  void aRecipeNamesIt() throws IOException {
    var file = write(rows());
    var recipe =
        "{data: {name: parquet, path: %s, label: y}, model: mlp, batch: 8,"
            + " optimizer: {name: sgd, lr: 0.1}}";
    var config =
        RunConfig.read(Recipe.parse("recipe", recipe.formatted(file)), Catalogue.installed());
    config.checkData();
    assertThat(config.data().classNames()).containsExactly("p", "q");
  }

  @Test
  void aTruncatedFileIsOneMessage() throws IOException {
    var file = write(rows());
    var bytes = Files.readAllBytes(file);
    for (int length : new int[] {0, 3, 100, bytes.length - 1}) {
      Files.write(file, Arrays.copyOf(bytes, length));
      assertThatThrownBy(Parquet.of(file, "y")::check)
          .isInstanceOf(ConfigException.class)
          .hasMessage(
              "data.path: %s: is no whole Parquet file: its end is missing or damaged (copy or"
                      .formatted(file)
                  + " write the file again)");
    }
  }

  @Test
  void aDamagedMiddleIsOneMessage() throws IOException {
    var file = write(rows());
    var bytes = Files.readAllBytes(file);
    Arrays.fill(bytes, 4, 200, (byte) 0xff);
    Files.write(file, bytes);
    assertThatThrownBy(Parquet.of(file, "y")::check)
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining("t.parquet, row ")
        .hasMessageContaining("cannot be read");
  }

  @Test
  void aMissingColumnAndAMissingFileAreNamed() throws IOException {
    assertThatThrownBy(Parquet.of(write(rows()), "z")::check)
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining("data.label:")
        .hasMessageContaining("has no column 'z'");
    assertThatThrownBy(Parquet.of(folder.resolve("none.parquet"), "y")::check)
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining("none.parquet: no such file");
  }

  /** Lists are no cells. */
  record Nested(List<Integer> many, String y) {}

  @Test
  void aColumnOfListsIsRefused() throws IOException {
    var file = folder.resolve("n.parquet");
    try (var out = Files.newOutputStream(file);
        var writer = new CarpetWriter<>(out, Nested.class)) {
      writer.write(List.of(new Nested(List.of(1, 2), "p"), new Nested(List.of(3), "q")));
    }
    assertThatThrownBy(Parquet.of(file, "y")::check)
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining("row 1: column 'many' holds lists or groups");
  }
}
