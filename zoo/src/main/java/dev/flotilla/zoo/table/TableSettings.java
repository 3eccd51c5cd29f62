package dev.flotilla.zoo.table;

import dev.flotilla.settings.Check;
import dev.flotilla.zoo.data.DataProblem;
import java.nio.file.Path;
import java.util.List;
import java.util.ServiceLoader;
import org.jspecify.annotations.Nullable;

/**
 * What all kinds of tables have in common.
 *
 * @param format the name of the format
 * @param delimiter what stands between cells, where the format has that
 * @param path the file to train with
 * @param testPath the file to test with; null for a part of {@code path}
 * @param testFraction the part to test with; null for whole files
 * @param splitSeed which rows those are
 * @param label the column to learn; null where another run says so
 * @param task what it holds
 * @param classes names of the classes in order; empty for those of the training rows
 * @param columns what the model sees
 * @param text a column of texts in its place; null for none
 * @param preprocessing what another run has learned; null for what training rows teach
 */
record TableSettings(
    String format,
    char delimiter,
    Path path,
    @Nullable Path testPath,
    @Nullable Double testFraction,
    long splitSeed,
    @Nullable String label,
    TableTask task,
    List<String> classes,
    Columns columns,
    @Nullable TextColumn text,
    @Nullable Path preprocessing) {

  private static final double USUAL_FRACTION = 0.2;

  /** Checks what is the same for all kinds of tables. */
  static void check(
      @Nullable Double testFraction,
      TableTask task,
      List<String> classes,
      @Nullable TextColumn text) {
    boolean isRegression = task == TableTask.REGRESSION;
    Check.that(
            testFraction == null || (testFraction > 0 && testFraction < 1),
            "test_fraction",
            "must be in (0, 1)",
            String.valueOf(testFraction))
        .and(
            classes.stream().distinct().count() == classes.size() && classes.size() != 1,
            "classes",
            "must be two or more different names",
            classes)
        .and(
            classes.isEmpty() || !isRegression,
            "classes",
            "must not be stated for a regression",
            classes)
        .and(
            text == null || !isRegression,
            "text",
            "must not be stated for a regression",
            String.valueOf(text))
        .orThrow();
  }

  /**
   * Returns the fraction of the rows to test with; null where all rows of a file are for tests,
   * because there is another one, or because nothing is learned of them.
   */
  static @Nullable Double fraction(
      @Nullable Path testPath, @Nullable Double testFraction, @Nullable Path preprocessing) {
    boolean isWhole = testPath != null || preprocessing != null;
    return testFraction == null && !isWhole ? Double.valueOf(USUAL_FRACTION) : testFraction;
  }

  /** Tells whether rows to train and to test with are in one file. */
  boolean isSplit() {
    return testFraction != null;
  }

  /** Opens a file. */
  TableReader open(Path file) {
    return format.equals("csv") ? new CsvRows(file, delimiter) : installed().open(file);
  }

  private TableFormat installed() {
    for (var found : ServiceLoader.load(TableFormat.class)) {
      if (found.name().equals(format)) {
        return found;
      }
    }
    throw DataProblem.in(
        "data.name",
        "nothing that reads %s is on the class path".formatted(format),
        "add the artifact dev.flotilla:flotilla-%s of the same version as flotilla-zoo to your"
                .formatted(format)
            + " dependencies, or its jars to the class path");
  }
}
