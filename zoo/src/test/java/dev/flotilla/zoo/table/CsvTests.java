package dev.flotilla.zoo.table;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.flotilla.data.Dataset;
import dev.flotilla.data.SampleForm;
import dev.flotilla.memory.NativeView;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.memory.Tensors;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.lang.ref.WeakReference;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What becomes of a table, by hand. */
final class CsvTests {

  @TempDir Path folder;

  private Path file(String name, String text) throws IOException {
    return Files.writeString(folder.resolve(name), text.replace('|', '\n'));
  }

  /** Trains on the first text and tests on the second. */
  private Csv table(String train, String test) throws IOException {
    return Csv.of(file("train.csv", train), "y").testedOn(file("test.csv", test));
  }

  private static List<Float> inputs(Dataset data, int... samples) {
    try (var _ = TensorScope.open()) {
      var batch = data.load(samples);
      return floats(NativeView.of(batch.inputs().getFirst()).toArray(ValueLayout.JAVA_FLOAT));
    }
  }

  private static List<Float> floats(float... values) {
    List<Float> list = new ArrayList<>();
    for (float value : values) {
      list.add(value);
    }
    return list;
  }

  private static long[] classes(Dataset data) {
    try (var _ = TensorScope.open()) {
      var all = IntStream.range(0, data.size()).toArray();
      return NativeView.of(data.load(all).targets()).toArray(ValueLayout.JAVA_LONG);
    }
  }

  /** Mean 2 and deviation sqrt(2/3) of 1, 2, 3; the test rows have no part in them. */
  @Test
  void numbersAreStandardizedByTrainingRows() throws IOException {
    var table = table("a,y|1,p|2,q|3,p", "a,y|100,q");
    float far = (float) (1 / Math.sqrt(2.0 / 3));
    assertThat(inputs(table.train(), 2, 0, 1)).containsExactly(far, -far, 0f);
    assertThat(inputs(table.test(), 0)).containsExactly((float) (98 / Math.sqrt(2.0 / 3)));
    assertThat(classes(table.train())).containsExactly(0, 1, 0);
    assertThat(table.classNames()).containsExactly("p", "q");
    assertThat(table.form()).contains(new SampleForm.Numbers(1, 2));
  }

  @Test
  void numbersMayStayOrLieBetweenZeroAndOne() throws IOException {
    var table = table("a,y|1,p|2,q|5,p", "a,y|7,q");
    var between = table.withColumns(Columns.all().withScaling(Scaling.MIN_MAX));
    assertThat(inputs(between.train(), 0, 1, 2)).containsExactly(0f, 0.25f, 1f);
    assertThat(inputs(between.test(), 0)).containsExactly(1.5f);
    var same = table.withColumns(Columns.all().withScaling(Scaling.NONE));
    assertThat(inputs(same.train(), 0, 1, 2)).containsExactly(1f, 2f, 5f);
  }

  @Test
  void aConstantColumnIsOnlyCentred() throws IOException {
    assertThat(inputs(table("a,y|7,p|7,q", "a,y|9,q").test(), 0)).containsExactly(2f);
  }

  /** Categories are sorted: blue, green, red; columns of the test file stand in another order. */
  @Test
  void categoriesAreOneHotInTheOrderOfTheirNames() throws IOException {
    var table = table("c,y|red,p|blue,q|green,p", "y,c|q,green|p,blue");
    assertThat(inputs(table.train(), 0)).containsExactly(0f, 0f, 1f);
    assertThat(inputs(table.test(), 0, 1)).containsExactly(0f, 1f, 0f, 1f, 0f, 0f);
    var all = Columns.all();
    var indexed =
        new Columns(
            List.of(),
            List.of(),
            all.types(),
            Missing.STOP,
            all.markers(),
            CategoryCode.INDEX,
            Scaling.NONE);
    assertThat(inputs(table.withColumns(indexed).train(), 0, 1, 2)).containsExactly(2f, 0f, 1f);
  }

  @Test
  void missingValuesAreFilledAndCounted() throws IOException {
    var table =
        table("a,c,y|1,red,p|NA,red,q|5,?,p|3,blue,p", "a,c,y|,blue,q")
            .withColumns(Columns.all().withMissing(Missing.MEAN).withScaling(Scaling.NONE));
    assertThat(inputs(table.train(), 1, 2)).containsExactly(3f, 0f, 1f, 5f, 0f, 1f);
    assertThat(inputs(table.test(), 0)).containsExactly(3f, 1f, 0f);
    assertThat(table.notes())
        .containsExactly(
            folder.resolve("train.csv") + ": 1 missing values of column 'a' are filled in",
            folder.resolve("train.csv") + ": 1 missing values of column 'c' are filled in",
            folder.resolve("test.csv") + ": 1 missing values of column 'a' are filled in");
  }

  @Test
  void rowsWithMissingValuesMayBeLeftOutAndAreCounted() throws IOException {
    var table =
        table("a,y|1,p|NA,q|5,|3,q", "a,y|2,p")
            .withColumns(Columns.all().withMissing(Missing.DROP_ROW).withScaling(Scaling.NONE));
    assertThat(table.train().size()).isEqualTo(2);
    assertThat(inputs(table.train(), 0, 1)).containsExactly(1f, 3f);
    assertThat(table.notes())
        .containsExactly(
            folder.resolve("train.csv") + ": 2 rows with a missing value are left out, 2 are used");
  }

  @Test
  void columnsAreIncludedExcludedAndTyped() throws IOException {
    var all = Columns.all();
    var types =
        new java.util.LinkedHashMap<>(Map.of("b", ColumnType.CATEGORY, "d", ColumnType.IGNORED));
    var columns =
        new Columns(
            List.of("b", "c", "d", "a"),
            List.of(),
            types,
            Missing.STOP,
            all.markers(),
            CategoryCode.ONE_HOT,
            Scaling.NONE);
    var table = table("a,b,c,d,e,y|1,7,2,x,x,p|2,8,3,x,x,q", "a,b,c,d,e,y|5,8,6,z,z,q");
    assertThat(inputs(table.withColumns(columns).test(), 0)).containsExactly(5f, 0f, 1f, 6f);
  }

  @Test
  void aRegressionHasNumbersAsTargets() throws IOException {
    var table = table("a,y|1,0.5|2,-3", "a,y|3,1e3").regression();
    try (var _ = TensorScope.open()) {
      var batch = table.train().load(new int[] {1, 0});
      assertThat(batch.targets().shape()).containsExactly(2, 1);
      assertThat(NativeView.of(batch.targets()).toArray(ValueLayout.JAVA_FLOAT))
          .containsExactly(-3f, 0.5f);
    }
    assertThat(table.form()).contains(new SampleForm.Numbers(1, 0));
    assertThat(table.classNames()).isEmpty();
  }

  @Test
  void numericClassesAreInTheOrderOfNumbers() throws IOException {
    assertThat(table("a,y|1,10|2,9|3,2", "a,y|3,9").classNames()).containsExactly("2", "9", "10");
  }

  @Test
  void quotesSpacesAndAMarkAtTheBeginningAreUnderstood() throws IOException {
    var table =
        table("\uFEFF\"a\",\"b, c\",y\r|\"1\", \"\"\"x\"\" \",p|\r|2,z,q", "a,\"b, c\",y|2,z,p");
    assertThat(table.learned().toString()).contains("b, c").contains("\"x\"");
    assertThat(table.train().size()).isEqualTo(2);
  }

  /** Each row is on one side, always the same by the seed, and a fraction of them for tests. */
  @Test
  void aFileIsSplitByItsSeed() throws IOException {
    var split = Split.of(100, 0.25, 1);
    assertThat(split.test()).hasSize(25).isSorted();
    assertThat(split.training()).hasSize(75).isSorted();
    var all = new HashSet<Integer>();
    IntStream.concat(Arrays.stream(split.test()), Arrays.stream(split.training()))
        .forEach(all::add);
    assertThat(all).hasSize(100);
    assertThat(Split.of(100, 0.25, 1).test()).isEqualTo(split.test());
    assertThat(Split.of(100, 0.25, 2).test()).isNotEqualTo(split.test());
  }

  /** Read again from JSON, and for a file without labels whose columns are in another order. */
  @Test
  void whatWasLearnedMakesTheSameOfOtherFiles() throws IOException {
    var table = table("a,c,y|0.1,red,p|0.7,blue,q|1.9,red,q", "a,c,y|0.3,blue,q");
    table.savePreprocessing(folder);
    var other = Csv.like(folder, file("new.csv", "c,a|blue,0.3|red,1.9"));
    other.check();
    assertThat(inputs(other.unlabelled(), 0)).isEqualTo(inputs(table.test(), 0));
    assertThat(inputs(other.unlabelled(), 1)).isEqualTo(inputs(table.train(), 2));
    assertThat(other.classNames()).containsExactly("p", "q");
    assertThat(other.learned()).isEqualTo(Csv.like(folder, folder.resolve("train.csv")).learned());
    assertThatThrownBy(other::test).hasMessageContaining("has no column 'y', which answers are");
  }

  @Test
  void predictionLeavesNoRowOut() throws IOException {
    table("a,y|1,p|NA,q|5,p|3,q", "a,y|2,p")
        .withColumns(Columns.all().withMissing(Missing.DROP_ROW))
        .savePreprocessing(folder);
    var other = Csv.like(folder, file("new.csv", "a|1||?|2"));
    assertThatThrownBy(other::unlabelled)
        .hasMessageContaining("new.csv, line 4: a value is missing, but no row can be left out");
  }

  @Test
  void rowsOneAfterTheOtherAreThoseOfTheTable() throws IOException {
    var table = table("a,c,y|1,red,q|2,blue,p|5,red,q", "a,c,y|1,red,p");
    var train = table.train();
    try (var rows = table.stream()) {
      for (int i = 0; i < 3; i++) {
        var row = rows.next();
        assertThat(floats(row.features())).isEqualTo(inputs(train, i));
        assertThat(row.label()).isEqualTo((float) classes(train)[i]);
      }
      assertThat(rows.hasNext()).isFalse();
    }
    assertThatThrownBy(() -> Csv.of(folder.resolve("train.csv"), "y").stream())
        .hasMessageContaining("data.test_path: is missing");
  }

  @Test
  void streamedBatchesAreThoseOfTheTable() throws IOException {
    var table = table("a,c,y|1,red,q|2,blue,p|5,red,q", "a,c,y|1,red,p");
    assertStreamed(table, true);
    var numbers = table("a,y|1,0.5|2,-3|3,7", "a,y|1,2").regression();
    assertStreamed(numbers, false);
  }

  private static void assertStreamed(Csv table, boolean isClassified) {
    var train = table.train();
    try (var _ = TensorScope.open()) {
      var epoch = table.streamed(2).epoch(1, 0, 1);
      for (int[] samples : new int[][] {{0, 1}, {2}}) {
        var batch = epoch.load(samples[0] / 2);
        assertThat(Tensors.toFloats(batch.inputs().getFirst()))
            .isEqualTo(Tensors.toFloats(train.load(samples).inputs().getFirst()));
        var targets = train.load(samples).targets();
        if (isClassified) {
          assertThat(Tensors.toLongs(batch.targets())).isEqualTo(Tensors.toLongs(targets));
        } else {
          assertThat(Tensors.toFloats(batch.targets())).isEqualTo(Tensors.toFloats(targets));
        }
      }
      assertThat(epoch.has(2)).isFalse();
    }
  }

  /** What becomes wrong in the file while it is read is found when its row is due, not before. */
  @Test
  void rowsAreReadWhenTheyAreDueAndNotKept() throws IOException {
    int count = 100_000;
    var text = "a,b,y\n" + "1,2,p\n2,9,q\n".repeat(count / 2);
    var file = Files.writeString(folder.resolve("long.csv"), text);
    try (var rows = Csv.of(file, "y").testedOn(file).stream()) {
      var first = new WeakReference<>(rows.next().features());
      Files.writeString(file, text.substring(0, text.length() - 4) + "x,q\n");
      for (int i = 2; i < count; i++) {
        assertThat(rows.hasNext()).isTrue();
        rows.next();
      }
      assertThatThrownBy(rows::next)
          .hasMessageContaining("line %d, column 'b': expected a number".formatted(count + 1));
      for (int i = 0; i < 100 && first.get() != null; i++) {
        System.gc();
      }
      assertThat(first.get()).isNull();
    }
  }

  @Test
  void textsAreClassified() throws IOException {
    var vocabulary = file("vocab.txt", "[PAD]|[UNK]|[CLS]|[SEP]|[MASK]|good|bad|very");
    var table =
        new Csv(
            TableFile.of(file("train.csv", "id,words,y|1,very GOOD,pos|2,bad,neg|3,good good,pos")),
            file("test.csv", "words,y|\"bad, very bad\",neg"),
            null,
            0,
            "y",
            TableTask.CLASSIFICATION,
            List.of(),
            Columns.all(),
            new TextColumn("words", vocabulary, true, 5),
            ",",
            null);
    table.check();
    assertThat(table.form()).contains(new SampleForm.Tokens(8, 5, 2));
    assertThat(classes(table.train())).containsExactly(1, 0, 1);
    try (var _ = TensorScope.open()) {
      var tokens = table.test().load(new int[] {0}).inputs().getFirst();
      assertThat(NativeView.of(tokens).toArray(ValueLayout.JAVA_LONG))
          .containsExactly(2, 6, 1, 7, 3);
    }
  }
}
