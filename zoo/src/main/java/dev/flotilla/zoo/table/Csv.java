package dev.flotilla.zoo.table;

import dev.flotilla.settings.Check;
import dev.flotilla.settings.Setting;
import dev.flotilla.settings.Summary;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A table in a CSV file: UTF-8 text, names of columns in the first line.
 *
 * <p>A batch holds what the model sees of the rows as float32 [n, numbers], and classes as int64
 * [n] or, for a regression, numbers as float32 [n, 1]. Means, deviations, categories and classes
 * are learned on training rows alone and saved with the model.
 *
 * @param path the file to train with
 * @param testPath the file to test with; null for a part of {@code path}
 * @param testFraction the part of the rows to test with; null for a fifth
 * @param splitSeed which rows those are
 * @param label the column to learn
 * @param task what it holds
 * @param classes names of the classes in order; empty for those of the training rows, sorted
 * @param columns what the model sees of the others
 * @param text a column of texts to classify in their place; null for none
 * @param delimiter what stands between two cells
 * @param preprocessing what another run has learned; null for what training rows teach
 */
@Summary("A table in a CSV file, to classify rows or texts, or for a regression.")
public record Csv(
    @Setting(doc = "CSV file to train with, names of columns in the first line.", local = true)
        TableFile path,
    @Setting(
            doc = "CSV file to test with; by default a part of path.",
            def = "null",
            insteadOf = "test_fraction")
        @Nullable Path testPath,
    @Setting(
            doc = "Fraction of the rows of path to test with, in (0, 1); by default 0.2.",
            def = "null",
            insteadOf = "test_path")
        @Nullable Double testFraction,
    @Setting(doc = "Seed that draws the rows to test with.", def = "0") long splitSeed,
    @Setting(doc = "Column that holds the label.", def = "null") @Nullable String label,
    @Setting(doc = "What the label is: classification or regression.", def = "classification")
        TableTask task,
    @Setting(doc = "Classes in order; by default those of training rows, sorted.", def = "[]")
        List<String> classes,
    @Setting(doc = "Which columns the model sees, and how.", def = "{}") Columns columns,
    @Setting(doc = "Column of texts to classify, in place of all others.", def = "null")
        @Nullable TextColumn text,
    @Setting(doc = "Character between two cells.", def = "','") String delimiter,
    @Setting(
            doc = "preprocessing.json of another run; by default learned on training rows.",
            def = "null")
        @Nullable Path preprocessing)
    implements TableSource {

  /** Checks the settings. */
  public Csv {
    classes = List.copyOf(classes);
    boolean isOne =
        (delimiter.length() == 1 && !delimiter.equals("\"") && !delimiter.isBlank())
            || delimiter.equals("\t");
    Check.that(isOne, "delimiter", "must be one character, such as , ; or \\t", delimiter)
        .orThrow();
    TableSource.check(testFraction, task, classes, text);
    testFraction = TableSource.fraction(testPath, testFraction, preprocessing);
  }

  /** Describes a file with everything else by default: four fifths to train with, classes. */
  public static Csv of(Path path, String label) {
    return whole(path, label, null);
  }

  /**
   * Returns the rows of any file as those were made that a run was trained with, for prediction.
   */
  public static Csv like(Path run, Path file) {
    return whole(file, null, run.resolve(Preprocessing.FILE));
  }

  private static Csv whole(Path path, @Nullable String label, @Nullable Path preprocessing) {
    return new Csv(
        TableFile.of(path),
        null,
        null,
        0,
        label,
        TableTask.CLASSIFICATION,
        List.of(),
        Columns.all(),
        null,
        ",",
        preprocessing);
  }

  /** Returns this table with a file of its own to test with. */
  public Csv testedOn(Path file) {
    return with(file, null, task, columns);
  }

  /** Returns this table with other settings of its columns. */
  public Csv withColumns(Columns other) {
    return with(testPath, testFraction, task, other);
  }

  /** Returns this table for a regression: the label is a number. */
  public Csv regression() {
    return with(testPath, testFraction, TableTask.REGRESSION, columns);
  }

  private Csv with(
      @Nullable Path test, @Nullable Double fraction, TableTask task, Columns columns) {
    return new Csv(
        path,
        test,
        fraction,
        splitSeed,
        label,
        task,
        classes,
        columns,
        text,
        delimiter,
        preprocessing);
  }

  @Override
  public TableReader open(Path file) {
    return new CsvRows(file, delimiter.charAt(0));
  }
}
