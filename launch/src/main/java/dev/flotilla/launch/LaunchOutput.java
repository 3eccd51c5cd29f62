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
 */
public record LaunchOutput(PrintStream out, PrintStream err, OptionalInt terminalColumns) {}
