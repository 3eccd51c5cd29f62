package dev.flotilla.zoo.table;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.flotilla.settings.ConfigException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Every mistake in a table is one message, which says where it is. */
final class BadTableTests {

  @TempDir Path folder;

  private Csv table(String text) throws IOException {
    return Csv.of(Files.writeString(folder.resolve("t.csv"), text.replace('|', '\n')), "y");
  }

  private String problemOf(Csv table) {
    var thrown = catchThrowableOfType(ConfigException.class, table::check);
    assertThat(thrown).isNotNull();
    assertThat(thrown.problems()).hasSize(1);
    return String.valueOf(thrown.getMessage()).replace(folder + "/", "");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '>',
      value = {
        "a,b,Y|1,2,p > data.label: t.csv has no column 'y'; did you mean 'Y'? (columns: [a, b, Y])",
        "a,y|1,p|x1,q|2,p > data.path: t.csv, line 3, column 'a': expected a number, as in line 2,"
            + " but",
        "a,b,a,y|1,2,3,p > data.path: t.csv, line 1: two columns are called 'a'",
        "a,,y|1,2,p > data.path: t.csv, line 1: column 2 has no name",
        "a,b,y|1,2,p|1,q > data.path: t.csv, line 3: expected 3 cells, as many as columns, but"
            + " found 2",
        "a,y|1,p|1,q,7 > data.path: t.csv, line 3: expected 2 cells, as many as columns, but found"
            + " 3",
        "a,y > data.path: t.csv: holds names of columns, but no row",
        "a,y|1,p|,q > data.path: t.csv, line 3, column 'a': the value is missing",
        "a,y|1,p|2,NA > data.path: t.csv, line 3, column 'y': the label is missing",
        "a,y|1,p|2,p|3,p|4,p|5,p > data.path: t.csv: column 'y' has the class [p] alone",
        "a,y|1,p|2,q > data.test_fraction: 0.2 of the 2 rows of t.csv leave none",
        "y|p|q > data.columns: leave nothing for the model to see",
        "a,y|'1,p|2,q > data.path: t.csv, line 2: is not CSV",
        "a,y|?,p|?,q|?,p > data.path: t.csv, line 2, column 'a': the value is missing",
      })
  void aMistakeIsOneMessage(String text, String message) throws IOException {
    assertThat(problemOf(table(text.replace('\'', '"')))).startsWith(message);
  }

  @Test
  void aNonNumericCellSaysWhatMayBeDone() throws IOException {
    var numbers = new StringBuilder("a,y\n");
    for (int i = 0; i < 1000; i++) {
      numbers.append(i).append(i % 2 == 0 ? ",p\n" : ",q\n");
    }
    assertThat(problemOf(table(numbers + "12x,p\n")))
        .isEqualTo(
            "data.path: t.csv, line 1002, column 'a': expected a number, but found '12x'"
                + " (mend the cell, add it to data.columns.markers, or set data.columns.types:"
                + " {'a': category})");
  }

  @Test
  void anEmptyFileAndNoFileAreRefused() throws IOException {
    assertThat(problemOf(table("")))
        .isEqualTo("data.path: t.csv: is empty, but names of columns are needed in the first line");
    assertThat(problemOf(Csv.of(folder.resolve("none.csv"), "y")))
        .isEqualTo("data.path: none.csv: no such file");
    assertThat(problemOf(Csv.of(folder, "y"))).endsWith("is a folder, but a CSV file is needed");
  }

  @Test
  void anotherEncodingIsRefused() throws IOException {
    var file = folder.resolve("latin.csv");
    Files.write(file, "a,y\n1,f\u00fcnf\n2,q\n".getBytes(StandardCharsets.ISO_8859_1));
    assertThat(problemOf(Csv.of(file, "y")))
        .startsWith("data.path: latin.csv, ")
        .contains("is not UTF-8 text (convert it, for example with iconv -f LATIN1 -t UTF-8)");
  }

  @Test
  void aCategoryThatTrainingRowsLackIsNamed() throws IOException {
    var train = table("a,y|red,p|blue,q|red,q");
    var test = Files.writeString(folder.resolve("test.csv"), "a,y\nred,p\ngreen,q\n");
    assertThat(problemOf(train.testedOn(test)))
        .startsWith(
            "data.path: test.csv, line 3, column 'a': category 'green' does not occur in the"
                + " training rows, but [blue, red]");
  }

  @Test
  void aLabelOutOfRangeIsNamed() throws IOException {
    var train = table("a,y|1,0|2,1|3,2|4,10");
    var test = Files.writeString(folder.resolve("test.csv"), "a,y\n1,2\n1,11\n");
    assertThat(problemOf(train.testedOn(test)))
        .startsWith(
            "data.path: test.csv, line 3, column 'y': label '11' is none of the classes"
                + " [0, 1, 2, 10]");
  }

  @Test
  void aTestFileThatLacksAColumnIsRefused() throws IOException {
    var train = table("first,y|1,p|2,q");
    var test = Files.writeString(folder.resolve("test.csv"), "frist,y\n1,p\n");
    assertThat(problemOf(train.testedOn(test)))
        .isEqualTo(
            "data.path: test.csv has no column 'first'; did you mean 'frist'?"
                + " (columns: [frist, y])");
  }

  @Test
  void columnsThatAreNamedMustBeThere() throws IOException {
    var columns =
        new Columns(
            List.of(),
            List.of("bb"),
            new LinkedHashMap<>(Map.of()),
            Missing.STOP,
            List.of(),
            CategoryCode.ONE_HOT,
            Scaling.NONE);
    assertThat(problemOf(table("a,b,y|1,2,p|2,3,q").withColumns(columns)))
        .startsWith("data.columns.exclude: t.csv has no column 'bb'; did you mean 'b'?");
  }

  @ParameterizedTest
  @ValueSource(doubles = {0, 1, -0.1, 1.5})
  void aTestFractionOutsideIsRefused(double fraction) {
    assertThatThrownBy(
            () ->
                new Csv(
                    TableFile.of(folder),
                    null,
                    fraction,
                    0,
                    "y",
                    TableTask.CLASSIFICATION,
                    List.of(),
                    Columns.all(),
                    null,
                    ",",
                    null))
        .isInstanceOf(ConfigException.class)
        .hasMessage("test_fraction: must be in (0, 1), but was " + fraction);
  }

  @Test
  void tooManyCategoriesAreRefused() throws IOException {
    var text = new StringBuilder("name,y\n");
    for (int i = 0; i < 2000; i++) {
      text.append("n").append(i).append(i % 2 == 0 ? ",p\n" : ",q\n");
    }
    var table = table(text.toString());
    assertThat(problemOf(table.testedOn(folder.resolve("t.csv"))))
        .contains("column 'name' has 2,000 categories, but at most 1,024 can be one_hot");
  }

  @Test
  void aFileThatIsNoPreprocessingIsRefused() throws IOException {
    var run = Files.createDirectories(folder.resolve("run"));
    var table = Csv.like(run, Files.writeString(folder.resolve("t.csv"), "a,y\n1,p\n"));
    assertThat(problemOf(table)).startsWith("data.preprocessing: run/preprocessing.json cannot be");
    Files.writeString(run.resolve("preprocessing.json"), "{\"format\":1}");
    assertThat(problemOf(Csv.like(run, folder.resolve("t.csv"))))
        .contains("is no preprocessing of a run: it has no list 'columns'");
    Files.writeString(run.resolve("preprocessing.json"), "{");
    assertThat(problemOf(Csv.like(run, folder.resolve("t.csv"))))
        .contains("is no preprocessing of a run");
  }

  @Test
  void aFormatOfAnotherArtifactSaysWhichToAdd() {
    var thread = Thread.currentThread();
    var loader = thread.getContextClassLoader();
    // One that knows no artifact but the JDK.
    thread.setContextClassLoader(ClassLoader.getPlatformClassLoader());
    try {
      assertThatThrownBy(Parquet.of(folder.resolve("t.parquet"), "y")::check)
          .isInstanceOf(ConfigException.class)
          .hasMessageContaining("nothing that reads parquet is on the class path")
          .hasMessageContaining("add the artifact dev.flotilla:flotilla-parquet");
    } finally {
      thread.setContextClassLoader(loader);
    }
  }
}
