package dev.flotilla.zoo.table;

import java.nio.file.Path;

/** A kind of table file that an artifact of its own can read, found by the service loader. */
public interface TableFormat {

  /** Returns the name of the format, for example "parquet". */
  String name();

  /**
   * Opens a file.
   *
   * @throws dev.flotilla.settings.ConfigException if it cannot be read or is no such file
   */
  TableReader open(Path file);
}
