package dev.flotilla.zoo.table;

import java.util.List;

/** Reads a table row by row, in constant memory. */
public interface TableReader extends AutoCloseable {

  /** Returns the names of the columns, in order. */
  List<String> columns();

  /**
   * Hands the cells of the next row out.
   *
   * @return whether there was another row
   * @throws dev.flotilla.settings.ConfigException if the file is damaged
   */
  boolean next(Cells cells);

  /** Returns where the row is that was read last, for example "line 12". */
  String place();

  @Override
  void close();
}
