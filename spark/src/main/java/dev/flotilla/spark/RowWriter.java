package dev.flotilla.spark;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.Serializable;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.DigestOutputStream;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.Collections;
import java.util.HexFormat;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.TaskContext;
import org.apache.spark.sql.Row;
import scala.collection.Seq;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Writes one partition of a DataFrame as a file: of each row its numbers as float32, then its class
 * as int32. The last column is the class.
 */
final class RowWriter implements Serializable {

  private static final long serialVersionUID = 1;

  /**
   * What a partition became.
   *
   * @param name name of the file
   * @param rows its rows
   * @param columns numbers of a row; 0 without rows
   * @param largest the largest class; -1 without rows
   * @param sha256 digest of the file
   */
  record Written(String name, long rows, int columns, int largest, String sha256)
      implements Serializable {}

  private final String folder;
  private final String part;

  RowWriter(Path folder, String part) {
    this.folder = folder.toString();
    this.part = part;
  }

  /** Writes a partition; a task that is tried again writes the same file again. */
  Written write(int partition, Iterator<Row> rows) throws IOException {
    var name = "%s-%05d.rows".formatted(part, partition);
    var file = Path.of(folder, name);
    var unfinished = Path.of(folder, "." + name + "." + TaskContext.get().taskAttemptId());
    try {
      var written = writeTo(unfinished, name, rows);
      Files.move(unfinished, file, StandardCopyOption.ATOMIC_MOVE);
      return written;
    } finally {
      Files.deleteIfExists(unfinished);
    }
  }

  /** Writes rows to a file, which is known by another name once it is whole. */
  static Written writeTo(Path file, String name, Iterator<Row> rows) throws IOException {
    var digest = newDigest();
    long count = 0;
    int columns = 0;
    int largest = -1;
    ByteBuffer bytes = ByteBuffer.allocate(0);
    try (var out =
        new DigestOutputStream(new BufferedOutputStream(Files.newOutputStream(file)), digest)) {
      while (rows.hasNext()) {
        var row = rows.next();
        if (count == 0) {
          columns = width(row);
          bytes = ByteBuffer.allocate((columns + 1) * 4).order(ByteOrder.LITTLE_ENDIAN);
        }
        largest = Math.max(largest, put(row, columns, bytes.clear(), name, count));
        out.write(bytes.array());
        count++;
      }
    }
    return new Written(name, count, columns, largest, HexFormat.of().formatHex(digest.digest()));
  }

  /** Puts a row into the buffer, and returns its class. */
  private static int put(Row row, int columns, ByteBuffer bytes, String name, long number) {
    var place = "row %d of %s: ".formatted(number, name);
    if (width(row) != columns) {
      throw refused(
          place + "it has %d numbers, but the first one %d".formatted(width(row), columns));
    }
    int last = row.size() - 1;
    for (int i = 0; i < last; i++) {
      numbers(row.get(i)).forEach(value -> bytes.putFloat(number(value, place)));
    }
    double label = number(row.get(last), place);
    if (label < 0 || label != Math.rint(label) || label > 1_000_000) {
      throw refused(place + "its class must be a whole number from 0, but was " + label);
    }
    bytes.putInt((int) label);
    return (int) label;
  }

  private static int width(Row row) {
    int width = 0;
    for (int i = 0; i < row.size() - 1; i++) {
      width += numbers(row.get(i)).size();
    }
    return width;
  }

  /** A column is a number, or an array of numbers. */
  private static List<?> numbers(Object value) {
    return value instanceof Seq<?> list
        ? CollectionConverters.asJava(list)
        : Collections.singletonList(value);
  }

  private static float number(Object value, String place) {
    if (value instanceof Number number && Float.isFinite(number.floatValue())) {
      return number.floatValue();
    }
    throw refused(place + "must hold finite numbers, but there is " + value);
  }

  private static SparkJobException refused(String why) {
    return new SparkJobException(ExitCode.USAGE, SparkJobException.REFUSED + why);
  }

  private static MessageDigest newDigest() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every JVM knows SHA-256", e);
    }
  }

  /** Turns what a partition throws into what Spark's functions may throw. */
  Written writeUnchecked(int partition, Iterator<Row> rows) {
    try {
      return write(partition, rows);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
