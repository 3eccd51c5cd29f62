package dev.flotilla.zoo.table;

import dev.flotilla.data.Dataset;
import dev.flotilla.data.PreprocessedData;
import dev.flotilla.data.SampleForm;
import dev.flotilla.data.StreamSource;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;

/** Tables of all formats: they differ in how a file is read, and in nothing else. */
sealed interface TableSource extends PreprocessedData permits Csv, Parquet {

  /** Returns the file to train with. */
  TableFile path();

  /** Returns what all formats have in common. */
  TableSettings settings();

  private TableData table() {
    return path().data(settings());
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
    return TableRows.open(settings());
  }

  /**
   * Returns the training file as batches whose rows are read as training goes on, and anew in each
   * epoch, in constant memory; otherwise as {@link #stream}.
   *
   * @param globalBatch rows of a batch over all ranks
   */
  default StreamSource<TableRows.Row> streamed(int globalBatch) {
    return TableRows.batches(settings(), globalBatch);
  }
}
