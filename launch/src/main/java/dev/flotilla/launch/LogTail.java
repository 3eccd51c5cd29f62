package dev.flotilla.launch;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;

/** Reads the last lines of a log file, made safe to print on a terminal. */
final class LogTail {

  private static final int MOST_BYTES = 64 * 1024;
  private static final int LONGEST_LINE = 400;

  private LogTail() {}

  static List<String> of(Path file, int lines) {
    List<String> all = lastBytes(file).lines().map(LogTail::printable).toList();
    return all.subList(Math.max(0, all.size() - lines), all.size());
  }

  private static String lastBytes(Path file) {
    try (FileChannel channel = FileChannel.open(file)) {
      channel.position(Math.max(0, channel.size() - MOST_BYTES));
      var bytes = ByteBuffer.allocate(MOST_BYTES);
      int count = 0;
      while (count >= 0 && bytes.hasRemaining()) {
        count = channel.read(bytes);
      }
      return StandardCharsets.UTF_8.decode(bytes.flip()).toString();
    } catch (IOException e) {
      return "";
    }
  }

  private static String printable(String line) {
    String plain = line.replace('\t', ' ').replaceAll("\\p{Cntrl}", "?");
    return plain.length() <= LONGEST_LINE ? plain : plain.substring(0, LONGEST_LINE) + "...";
  }
}
