package dev.flotilla.launch;

import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/** Finds in a log what a JVM or native code says before it dies without an exception. */
final class LastWords {

  private static final String CRASH = "# A fatal error has been detected by the Java Runtime";
  private static final String FRAME = "# Problematic frame:";
  private static final String MEMORY = "Terminating due to java.lang.OutOfMemoryError";
  private static final String NATIVE_EXCEPTION = "terminate called";

  private final List<String> lines;

  private LastWords(List<String> lines) {
    this.lines = lines;
  }

  /** Returns the cause of a death as the last lines of a log tell it. */
  static Optional<String> in(List<String> lines) {
    var words = new LastWords(lines);
    return words.crash().or(words::memory).or(words::nativeException);
  }

  private Optional<String> crash() {
    return find(CRASH)
        .map(at -> "the JVM crashed: " + plain(at + 2) + frame() + "; look for hs_err_pid*.log");
  }

  private String frame() {
    return find(FRAME).map(at -> ", in " + plain(at + 1)).orElse("");
  }

  private Optional<String> memory() {
    return find(MEMORY).map(at -> line(at).substring("Terminating due to ".length()));
  }

  private Optional<String> nativeException() {
    return find(NATIVE_EXCEPTION)
        .map(at -> "an abort in native code: %s %s".formatted(line(at), line(at + 1)).strip());
  }

  private Optional<Integer> find(String start) {
    return IntStream.range(0, lines.size())
        .filter(at -> lines.get(at).startsWith(start))
        .boxed()
        .reduce((_, last) -> last);
  }

  private String plain(int at) {
    return line(at).replaceFirst("^# *", "").replaceAll(" +", " ");
  }

  private String line(int at) {
    return at < lines.size() ? lines.get(at).strip() : "";
  }
}
