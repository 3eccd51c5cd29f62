package dev.flotilla.launch;

import java.io.PrintStream;
import java.util.OptionalInt;

/**
 * Where a launcher writes.
 *
 * @param out gets the first rank's output as it comes, and the tables at the start
 * @param err gets the launcher's own messages and the report of a failure
 * @param terminalColumns width of the terminal behind {@code out}; empty when it is none, or when
 *     no progress line is wanted
 * @param hasTables whether arguments and environment are shown at the start
 */
public record LaunchOutput(
    PrintStream out, PrintStream err, OptionalInt terminalColumns, boolean hasTables) {

  /** Shows tables at the start. */
  public LaunchOutput(PrintStream out, PrintStream err, OptionalInt terminalColumns) {
    this(out, err, terminalColumns, true);
  }

  /** Returns the same without tables at the start. */
  public LaunchOutput withoutTables() {
    return new LaunchOutput(out, err, terminalColumns, false);
  }
}
