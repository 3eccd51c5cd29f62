package dev.flotilla.parquet;

import com.jerolba.carpet.CarpetReader;
import com.jerolba.carpet.CloseableIterator;
import com.jerolba.carpet.io.FileSystemInputFile;
import dev.flotilla.settings.ConfigException;
import dev.flotilla.zoo.data.DataProblem;
import dev.flotilla.zoo.table.Cells;
import dev.flotilla.zoo.table.TableReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import org.apache.parquet.hadoop.ParquetFileReader;
import org.apache.parquet.io.api.Binary;
import org.apache.parquet.schema.Type;
import org.jspecify.annotations.Nullable;

/** Reads the rows of a Parquet file one after the other. */
final class ParquetRows implements TableReader {

  private static final String FIX = "copy or write the file again";

  private final Path file;
  private final List<String> columns;
  private final CloseableIterator<?> rows;
  private long row;

  ParquetRows(Path file) {
    this.file = file;
    this.columns = columns(file);
    try {
      this.rows = new CarpetReader<>(file.toFile(), Map.class).iterator();
    } catch (RuntimeException e) {
      throw damaged(e);
    }
  }

  private static List<String> columns(Path file) {
    if (!Files.isRegularFile(file)) {
      throw DataProblem.of(
          file,
          Files.isDirectory(file) ? "is a folder, but a Parquet file is needed" : "no such file",
          "");
    }
    try (var reader = ParquetFileReader.open(new FileSystemInputFile(file.toFile()))) {
      var schema = reader.getFooter().getFileMetaData().getSchema();
      return schema.getFields().stream().map(Type::getName).toList();
    } catch (IOException | RuntimeException e) {
      throw DataProblem.of(file, "is no whole Parquet file: its end is missing or damaged", FIX);
    }
  }

  @Override
  public List<String> columns() {
    return columns;
  }

  @Override
  public boolean next(Cells cells) {
    Map<?, ?> values;
    try {
      if (!rows.hasNext()) {
        return false;
      }
      values = (Map<?, ?>) rows.next();
    } catch (RuntimeException e) {
      row++;
      throw damaged(e);
    }
    row++;
    for (int column = 0; column < columns.size(); column++) {
      hand(column, values.get(columns.get(column)), cells);
    }
    return true;
  }

  private void hand(int column, @Nullable Object value, Cells cells) {
    switch (value) {
      case null -> cells.missing(column);
      case Number number -> cells.number(column, number.doubleValue());
      case Binary bytes -> hand(column, bytes.toStringUsingUTF8(), cells);
      case Collection<?> _ -> throw nested(column);
      case Map<?, ?> _ -> throw nested(column);
      default -> {
        var chars = value.toString().toCharArray();
        cells.text(column, chars, 0, chars.length);
      }
    }
  }

  private ConfigException nested(int column) {
    return DataProblem.at(
        file,
        place(),
        "column '%s' holds lists or groups, but each cell must be one value"
            .formatted(columns.get(column)),
        "write the file without that column");
  }

  private ConfigException damaged(RuntimeException cause) {
    return DataProblem.at(
        file, "row " + row, "cannot be read: " + String.valueOf(cause.getMessage()), FIX);
  }

  @Override
  public String place() {
    return "row " + row;
  }

  @Override
  public void close() {
    try {
      rows.close();
    } catch (IOException e) {
      throw DataProblem.unreadable(file, e);
    }
  }
}
