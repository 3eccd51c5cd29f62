package dev.flotilla.report.tensorboard;

import com.google.protobuf.UnknownFieldSet;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Reads event files with Google's own library, and drops what is void as TensorBoard does. */
final class ReadEvents {

  private static final int TAG = 1;
  private static final int SIMPLE_VALUE = 2;
  private static final int HISTOGRAM = 5;
  private static final int TENSOR = 8;

  /** A value of a summary. */
  record Point(String tag, long step, UnknownFieldSet value) {

    boolean isScalar() {
      return value.hasField(SIMPLE_VALUE);
    }

    float scalar() {
      return Float.intBitsToFloat(value.getField(SIMPLE_VALUE).getFixed32List().getFirst());
    }

    UnknownFieldSet histogram() throws IOException {
      return message(value, HISTOGRAM);
    }

    String text() throws IOException {
      return string(message(value, TENSOR), 8);
    }

    String place() {
      return tag + "@" + step;
    }
  }

  private ReadEvents() {}

  static List<Path> files(Path folder) throws IOException {
    try (var files = Files.list(folder)) {
      return files
          .filter(file -> file.getFileName().toString().contains("tfevents"))
          .sorted()
          .toList();
    }
  }

  /** Returns what TensorBoard would show of all files of a folder. */
  static List<Point> shown(Path folder) throws IOException {
    List<Point> shown = new ArrayList<>();
    for (var file : files(folder)) {
      for (byte[] record : records(file)) {
        var event = UnknownFieldSet.parseFrom(record);
        long step = event.hasField(2) ? event.getField(2).getVarintList().getFirst() : 0;
        if (event.hasField(7)) {
          shown.removeIf(point -> point.step() >= step);
        }
        if (event.hasField(5)) {
          for (var value : message(event, 5).getField(1).getLengthDelimitedList()) {
            var fields = UnknownFieldSet.parseFrom(value);
            shown.add(new Point(string(fields, TAG), step, fields));
          }
        }
      }
    }
    return shown;
  }

  /** Returns the content of each record, whose checksums must be right. */
  static List<byte[]> records(Path file) throws IOException {
    var bytes = ByteBuffer.wrap(Files.readAllBytes(file)).order(ByteOrder.LITTLE_ENDIAN);
    List<byte[]> records = new ArrayList<>();
    while (bytes.hasRemaining()) {
      var length = new byte[8];
      bytes.get(length);
      require(bytes.getInt() == masked(length));
      var content =
          new byte[(int) ByteBuffer.wrap(length).order(ByteOrder.LITTLE_ENDIAN).getLong()];
      bytes.get(content);
      require(bytes.getInt() == masked(content));
      records.add(content);
    }
    return records;
  }

  private static void require(boolean isRight) throws IOException {
    if (!isRight) {
      throw new IOException("a checksum is wrong");
    }
  }

  /** Castagnoli's polynomial bit by bit, unlike the JDK's that the writer uses. */
  private static int masked(byte[] data) {
    int crc = -1;
    for (byte each : data) {
      crc ^= each & 0xff;
      for (int bit = 0; bit < 8; bit++) {
        crc = (crc & 1) == 0 ? crc >>> 1 : (crc >>> 1) ^ 0x82f63b78;
      }
    }
    int sum = ~crc;
    return ((sum >>> 15) | (sum << 17)) + 0xa282ead8;
  }

  static UnknownFieldSet message(UnknownFieldSet fields, int number) throws IOException {
    return UnknownFieldSet.parseFrom(fields.getField(number).getLengthDelimitedList().getFirst());
  }

  static double real(UnknownFieldSet fields, int number) {
    return Double.longBitsToDouble(fields.getField(number).getFixed64List().getFirst());
  }

  static double[] reals(UnknownFieldSet fields, int number) {
    var packed = fields.getField(number).getLengthDelimitedList().getFirst();
    var values = packed.asReadOnlyByteBuffer().order(ByteOrder.LITTLE_ENDIAN).asDoubleBuffer();
    var copy = new double[values.remaining()];
    values.get(copy);
    return copy;
  }

  private static String string(UnknownFieldSet fields, int number) {
    return fields
        .getField(number)
        .getLengthDelimitedList()
        .getFirst()
        .toString(StandardCharsets.UTF_8);
  }
}
