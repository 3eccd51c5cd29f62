package dev.flotilla.launch;

import dev.flotilla.control.PrivateFiles;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;

/**
 * The log file of a rank: new with every launch, continued by every restart.
 *
 * @param file where it is
 * @param attempt how often the job was restarted before
 */
record RankLog(Path file, int attempt) {

  private static final String SEPARATOR = "---------- restart ";

  OutputStream open() throws IOException {
    if (attempt == 0) {
      return PrivateFiles.newFile(file);
    }
    OutputStream out = PrivateFiles.appendTo(file);
    out.write((SEPARATOR + attempt + " ----------\n").getBytes(StandardCharsets.UTF_8));
    return out;
  }

  /** Returns the last lines that the latest attempt has written. */
  static List<String> lastLines(Path file, int most) {
    List<String> lines = LogTail.of(file, most);
    for (int i = lines.size() - 1; i >= 0; i--) {
      if (lines.get(i).startsWith(SEPARATOR)) {
        return lines.subList(i + 1, lines.size());
      }
    }
    return lines;
  }
}
