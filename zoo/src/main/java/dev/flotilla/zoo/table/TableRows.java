package dev.flotilla.zoo.table;

import dev.flotilla.data.Encoding;
import dev.flotilla.data.StreamSource;
import dev.flotilla.zoo.data.DataProblem;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Spliterator;
import java.util.Spliterators;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/**
 * The rows of a table one after the other, as the model sees them, in constant memory however many
 * there are.
 */
public final class TableRows implements Iterator<TableRows.Row>, AutoCloseable {

  private final RowParser parser;
  private final Preprocessing preprocessing;
  private boolean isRead;
  private boolean isAtEnd;

  /**
   * A row.
   *
   * @param features what the model sees
   * @param label the number of the class, or the number to guess
   */
  @SuppressWarnings("ArrayRecordComponent") // A row is read, never compared.
  public record Row(float[] features, float label) {}

  private TableRows(RowParser parser, Preprocessing preprocessing) {
    this.parser = parser;
    this.preprocessing = preprocessing;
  }

  static TableRows open(TableSource source) {
    return open(source, learned(source));
  }

  /** Returns what rows are made by, learned in a pass of its own unless another run has. */
  static Preprocessing learned(TableSource source) {
    if (source.isSplit()) {
      throw DataProblem.in(
          "data.test_path",
          "is missing: a file that is read row by row cannot be split",
          "name a file to test with");
    }
    var file = source.preprocessing();
    var known = file == null ? learn(source) : Preprocessing.read(file);
    if (known.plan().text() != null) {
      throw DataProblem.in("data.text", "cannot be read row by row", "use train()");
    }
    return known;
  }

  static TableRows open(TableSource source, Preprocessing known) {
    var path = source.path().path();
    var reader = source.open(path);
    return new TableRows(
        new RowParser(path, reader, known.plan(), known.dictionaries(), false, true), known);
  }

  /** Returns the rows as batches to train with, read anew in each epoch. */
  static StreamSource<Row> batches(TableSource source, int globalBatch) {
    var known = learned(source);
    var features = Encoding.<Row>empty().input(Row::features);
    var encoding =
        known.plan().task() == TableTask.REGRESSION
            ? features.target(row -> new float[] {row.label()})
            : features.label(row -> (int) row.label(), known.classes().size());
    return StreamSource.of(_ -> open(source, known).stream(), encoding, globalBatch);
  }

  private Stream<Row> stream() {
    var rows = Spliterators.spliteratorUnknownSize(this, Spliterator.ORDERED);
    return StreamSupport.stream(rows, false).onClose(this::close);
  }

  private static Preprocessing learn(TableSource source) {
    var path = source.path().path();
    TablePlan plan;
    try (var reader = source.open(path)) {
      plan = PlanInference.plan(path, reader, source);
    }
    List<Dictionary> dictionaries = new ArrayList<>();
    for (int at = 0; at < plan.width(); at++) {
      dictionaries.add(new Dictionary());
    }
    var statistics = new Statistics(plan);
    try (var parser = new RowParser(path, source.open(path), plan, dictionaries, true, true)) {
      while (parser.next()) {
        statistics.add(parser.row());
      }
    }
    return Preprocessing.learn(path, plan, source, statistics, dictionaries);
  }

  @Override
  public boolean hasNext() {
    if (!isRead && !isAtEnd) {
      isRead = parser.next();
      isAtEnd = !isRead;
    }
    return isRead;
  }

  @Override
  public Row next() {
    if (!hasNext()) {
      throw new NoSuchElementException("the table has no more rows");
    }
    isRead = false;
    var features = new float[preprocessing.width()];
    preprocessing.encode(parser.row(), features, 0);
    return new Row(features, parser.row()[preprocessing.plan().labelAt()]);
  }

  @Override
  public void close() {
    parser.close();
  }
}
