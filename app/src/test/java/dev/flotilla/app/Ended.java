package dev.flotilla.app;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;

/**
 * How a command ended.
 *
 * @param exitCode its exit code; 128 + n if signal n ended it
 * @param out what it printed to standard output
 * @param err what it printed to standard error
 */
record Ended(int exitCode, String out, String err) {

  /**
   * Runs a command in this process: for mistakes in all their kinds, where others show that one
   * ends a process with its code.
   */
  static Ended here(String... arguments) {
    var out = new ByteArrayOutputStream();
    var err = new ByteArrayOutputStream();
    var systemOut = System.out;
    var systemErr = System.err;
    System.setOut(new PrintStream(out, true, StandardCharsets.UTF_8));
    System.setErr(new PrintStream(err, true, StandardCharsets.UTF_8));
    try {
      int code = Main.run(arguments);
      return new Ended(
          code, out.toString(StandardCharsets.UTF_8), err.toString(StandardCharsets.UTF_8));
    } finally {
      System.setOut(systemOut);
      System.setErr(systemErr);
    }
  }

  /** Checks the exit code; shows everything that was printed if it is another one. */
  Ended expect(int code) {
    assertThat(exitCode).as("standard error:\n%s\nstandard output:\n%s", err, out).isEqualTo(code);
    return this;
  }

  /** Checks that a mistake is explained without showing the insides. */
  Ended explainsItself() {
    assertThat(err).doesNotContain("\tat ").doesNotContain("Exception");
    return this;
  }
}
