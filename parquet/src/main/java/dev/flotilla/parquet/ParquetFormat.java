package dev.flotilla.parquet;

import dev.flotilla.zoo.table.TableFormat;
import dev.flotilla.zoo.table.TableReader;
import java.nio.file.Path;

/** Reads {@code data: {name: parquet}} of recipes. */
public final class ParquetFormat implements TableFormat {

  @Override
  public String name() {
    return "parquet";
  }

  @Override
  public TableReader open(Path file) {
    return new ParquetRows(file);
  }
}
