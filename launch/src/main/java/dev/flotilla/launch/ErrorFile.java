package dev.flotilla.launch;

import dev.flotilla.control.PrivateFiles;
import dev.flotilla.text.Secrets;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringReader;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Instant;
import java.util.Optional;
import java.util.Properties;

/**
 * What a failing rank leaves behind to say why: a small properties file, readable by its owner
 * alone.
 *
 * @param time when the exception reached the end of the program
 * @param exception class of the exception
 * @param message its message
 */
record ErrorFile(Instant time, String exception, String message) {

  private static final int LONGEST_TEXT = 64 * 1024;
  private static final long LARGEST_FILE = 1024 * 1024;

  /** Writes the file of a rank in one piece: a reader sees all of it or nothing. */
  static void write(Path file, String rank, String host, Throwable failure, Secrets secrets)
      throws IOException {
    var properties = new Properties();
    properties.setProperty("time", Instant.now().toString());
    properties.setProperty("nanos", Long.toString(System.nanoTime()));
    properties.setProperty("rank", rank);
    properties.setProperty("host", host);
    properties.setProperty("pid", Long.toString(ProcessHandle.current().pid()));
    properties.setProperty("exception", failure.getClass().getName());
    properties.setProperty("message", cut(secrets.hideIn(String.valueOf(failure.getMessage()))));
    properties.setProperty("trace", cut(secrets.hideIn(trace(failure))));
    var text = new StringWriter();
    properties.store(text, null);
    Path part = file.resolveSibling(file.getFileName() + ".part");
    try (var out = PrivateFiles.newFile(part)) {
      out.write(text.toString().getBytes(StandardCharsets.UTF_8));
    }
    Files.move(part, file, StandardCopyOption.ATOMIC_MOVE);
  }

  /** Reads a rank's file; empty when there is none or it makes no sense. */
  static Optional<ErrorFile> read(Path file) {
    try {
      if (!Files.isRegularFile(file) || Files.size(file) > LARGEST_FILE) {
        return Optional.empty();
      }
      var properties = new Properties();
      properties.load(new StringReader(Files.readString(file)));
      return Optional.of(
          new ErrorFile(
              HostClock.at(Long.parseLong(properties.getProperty("nanos", ""))),
              properties.getProperty("exception", ""),
              properties.getProperty("message", "")));
    } catch (IOException | IllegalArgumentException e) {
      return Optional.empty();
    }
  }

  /** Returns the cause in one sentence. */
  String cause() {
    return message.equals("null") ? exception : exception + ": " + message;
  }

  /** Returns where an exception came from, as a JVM prints it. */
  static String trace(Throwable failure) {
    var trace = new StringWriter();
    failure.printStackTrace(new PrintWriter(trace));
    return trace.toString();
  }

  private static String cut(String text) {
    return text.length() <= LONGEST_TEXT ? text : text.substring(0, LONGEST_TEXT) + "...";
  }
}
