package dev.flotilla.app;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * How a command ended.
 *
 * @param exitCode its exit code; 128 + n if signal n ended it
 * @param out what it printed to standard output
 * @param err what it printed to standard error
 */
record Ended(int exitCode, String out, String err) {

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
