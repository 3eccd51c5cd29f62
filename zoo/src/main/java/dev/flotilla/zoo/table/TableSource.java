package dev.flotilla.zoo.table;

import dev.flotilla.data.Dataset;
import dev.flotilla.data.PreprocessedData;
import dev.flotilla.data.SampleForm;
import dev.flotilla.data.StreamSource;
import dev.flotilla.settings.Check;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/** Tables of all formats: they differ in how a file is read, and in nothing else. */
sealed interface TableSource extends PreprocessedData permits Csv, Parquet {

  /** The part of the rows to test with where nothing says otherwise. */
  double USUAL_FRACTION = 0.2;

  /** Returns the file to train with. */
  TableFile path();

  /** Returns the file to test with; null for a part of {@link #path}. */
  @Nullable Path testPath();

  /** Returns the part of the rows to test with; null for whole files. */
  @Nullable Double testFraction();

  /** Returns the seed that draws the rows to test with. */
  long splitSeed();

  /** Returns the column to learn; null where another run says so. */
  @Nullable String label();

  /** Returns what the label is. */
  TableTask task();

  /** Returns the names of the classes in order; empty for those of the training rows. */
  List<String> classes();

  /** Returns what the model sees of the columns. */
  Columns columns();

  /** Returns the column of texts to classify in their place; null for none. */
  @Nullable TextColumn text();

  /**
   * Opens a file of this format.
   *
   * @throws dev.flotilla.settings.ConfigException if it cannot be read or is no such file
   */
  TableReader open(Path file);

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
  default boolean isSplit() {
    return testFraction() != null;
  }

  private TableData table() {
    return path().data(this);
  }

  @Override
  default void check() {
    table().check();
  }

  @Override
  default Optional<SampleForm> form() {
    return Optional.of(table().form());
  }

  @Override
  default OptionalInt trainingSize() {
    return OptionalInt.of(table().training().numbers().length);
  }

  @Override
  default List<String> classNames() {
    return table().preprocessing().classes();
  }

  @Override
  default String normalization() {
    return "columns of a table, as preprocessing.json of the run has it";
  }

  @Override
  default List<String> notes() {
    return table().notes();
  }

  @Override
  default Map<String, Object> learned() {
    return table().preprocessing().values();
  }

  /**
   * Writes what was learned into a folder, as {@code preprocessing.json}, for prediction.
   *
   * @throws java.io.UncheckedIOException if it cannot be written
   */
  default void savePreprocessing(Path folder) {
    table().preprocessing().writeTo(folder.resolve(Preprocessing.FILE));
  }

  @Override
  default Dataset train() {
    return table().dataset(table().training());
  }

  @Override
  default Dataset test() {
    return table().dataset(table().testing());
  }

  @Override
  default Dataset unlabelled() {
    return table().dataset(table().unlabelled());
  }

  /**
   * Opens the training file as rows that are read one after the other, in constant memory. What
   * they are normalised by is learned in a pass of its own, unless another run has.
   *
   * @throws dev.flotilla.settings.ConfigException if rows to test with are in the same file, which
   *     only somebody knows who has read all of it
   */
  default TableRows stream() {
    return TableRows.open(this);
  }

  /**
   * Returns the training file as batches whose rows are read as training goes on, and anew in each
   * epoch, in constant memory; otherwise as {@link #stream}.
   *
   * @param globalBatch rows of a batch over all ranks
   */
  default StreamSource<TableRows.Row> streamed(int globalBatch) {
    return TableRows.batches(this, globalBatch);
  }
}
