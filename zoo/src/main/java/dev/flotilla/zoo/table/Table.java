package dev.flotilla.zoo.table;

import dev.flotilla.memory.PlainMemory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The rows of a file as they were read, in native memory that grows by pieces, so that nothing is
 * copied and no heap is needed: four bytes for each cell.
 */
final class Table {

  private static final int CHUNK_CELLS = 1 << 16;

  private final Path file;
  private final TablePlan plan;
  private final int width;
  private final int rowsPerChunk;
  private final Arena arena = Arena.ofAuto();
  private final List<MemorySegment> chunks = new ArrayList<>();
  private final List<String> texts = new ArrayList<>();
  private List<Dictionary> dictionaries = List.of();
  private long[] filled = {};
  private long dropped;
  private String firstDropped = "";
  private boolean hasLabel;
  private int rows;

  private Table(Path file, TablePlan plan) {
    this.file = file;
    this.plan = plan;
    this.width = plan.width();
    this.rowsPerChunk = Math.max(1, CHUNK_CELLS / width);
  }

  /** Reads all rows. */
  static Table read(Path file, TablePlan plan, RowParser parser) {
    var table = new Table(file, plan);
    while (parser.next()) {
      table.add(parser.row());
      if (plan.text() != null) {
        table.texts.add(parser.text());
      }
    }
    table.dictionaries = parser.dictionaries();
    table.filled = parser.filled();
    table.dropped = parser.dropped();
    table.firstDropped = parser.firstDropped();
    table.hasLabel = parser.hasLabel();
    return table;
  }

  private void add(float[] row) {
    int at = rows % rowsPerChunk;
    if (at == 0) {
      chunks.add(PlainMemory.allocate((long) rowsPerChunk * width * Float.BYTES, arena));
    }
    long offset = (long) at * width * Float.BYTES;
    MemorySegment.copy(row, 0, chunks.getLast(), ValueLayout.JAVA_FLOAT, offset, width);
    rows = Math.incrementExact(rows);
  }

  /** Copies a row. */
  void copy(int number, float[] row) {
    var chunk = chunks.get(number / rowsPerChunk);
    long offset = (long) (number % rowsPerChunk) * width * Float.BYTES;
    MemorySegment.copy(chunk, ValueLayout.JAVA_FLOAT, offset, row, 0, width);
  }

  Path file() {
    return file;
  }

  TablePlan plan() {
    return plan;
  }

  int rows() {
    return rows;
  }

  String text(int number) {
    return texts.get(number);
  }

  List<Dictionary> dictionaries() {
    return dictionaries;
  }

  /** Returns the number of rows that were left out. */
  long dropped() {
    return dropped;
  }

  /** Returns where the first row is that was left out. */
  String firstDropped() {
    return firstDropped;
  }

  /** Tells whether there is a column of labels. */
  boolean hasLabel() {
    return hasLabel;
  }

  /** Returns how many cells of a column had no value. */
  long filled(int at) {
    return filled[at];
  }
}
