package dev.flotilla.spark;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.stream.Stream;
import org.apache.spark.api.java.function.Function2;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.functions;

/** Writes DataFrames as a folder that recipes name as {@code data: {name: rows, path: ...}}. */
final class RowFolder {

  private static final String MANIFEST = "rows.manifest";

  private final Path folder;
  private final List<String> features;
  private final String label;

  RowFolder(Path folder, List<String> features, String label) {
    this.folder = folder.toAbsolutePath();
    this.features = features;
    this.label = label;
  }

  /** Writes all files, and behind them their list: a folder without it is not whole. */
  void write(Dataset<Row> train, Dataset<Row> test) {
    try {
      if (Files.exists(folder.resolve(MANIFEST))) {
        throw new SparkJobException(
            ExitCode.USAGE, folder + " holds rows already: name another folder, or remove it");
      }
      Files.createDirectories(folder);
      var written = new ArrayList<RowWriter.Written>(write(train, "train"));
      written.addAll(write(test, "test"));
      var text = manifest(written);
      var unfinished = Files.writeString(folder.resolve("." + MANIFEST), text);
      Files.move(unfinished, folder.resolve(MANIFEST), StandardCopyOption.ATOMIC_MOVE);
    } catch (IOException e) {
      throw new UncheckedIOException("cannot write rows to " + folder, e);
    }
  }

  private List<RowWriter.Written> write(Dataset<Row> rows, String part) {
    var columns =
        Stream.concat(features.stream(), Stream.of(label))
            .map(functions::col)
            .toArray(Column[]::new);
    var writer = new RowWriter(folder, part);
    Function2<Integer, Iterator<Row>, Iterator<RowWriter.Written>> task =
        (partition, some) -> List.of(writer.writeUnchecked(partition, some)).iterator();
    return rows.select(columns).toJavaRDD().mapPartitionsWithIndex(task, true).collect();
  }

  private static String manifest(List<RowWriter.Written> written) {
    var widths =
        written.stream()
            .filter(it -> it.rows() > 0)
            .map(RowWriter.Written::columns)
            .distinct()
            .toList();
    if (widths.size() != 1) {
      throw new SparkJobException(
          ExitCode.USAGE,
          widths.isEmpty()
              ? "there are no rows to write"
              : "rows must have as many numbers each, but there are rows of " + widths);
    }
    int largest = written.stream().mapToInt(RowWriter.Written::largest).max().orElse(0);
    var text = new StringBuilder("flotilla rows 1\n");
    text.append("columns ").append(widths.get(0)).append('\n');
    text.append("classes ").append(Math.max(2, largest + 1)).append('\n');
    for (var file : written) {
      var part = file.name().replaceAll("-.*", "");
      text.append("%s %s %d %s%n".formatted(part, file.name(), file.rows(), file.sha256()));
    }
    return text.toString();
  }
}
