package dev.flotilla.launch;

import dev.flotilla.world.ExitCodes;
import java.util.Map;

/** Names and usual causes of the signals that end a process. */
final class Signals {

  static final int KILL = 9;
  static final int TERM = 15;

  private static final Map<Integer, String> NAMES =
      Map.ofEntries(
          Map.entry(1, "SIGHUP"),
          Map.entry(2, "SIGINT"),
          Map.entry(3, "SIGQUIT"),
          Map.entry(4, "SIGILL"),
          Map.entry(5, "SIGTRAP"),
          Map.entry(6, "SIGABRT"),
          Map.entry(7, "SIGBUS"),
          Map.entry(8, "SIGFPE"),
          Map.entry(KILL, "SIGKILL"),
          Map.entry(10, "SIGUSR1"),
          Map.entry(11, "SIGSEGV"),
          Map.entry(12, "SIGUSR2"),
          Map.entry(13, "SIGPIPE"),
          Map.entry(14, "SIGALRM"),
          Map.entry(TERM, "SIGTERM"),
          Map.entry(24, "SIGXCPU"),
          Map.entry(25, "SIGXFSZ"),
          Map.entry(31, "SIGSYS"));

  private Signals() {}

  /** Returns "exit code 3" or "SIGKILL (exit code 137)". */
  static String describe(int exitCode) {
    return ExitCodes.isSignal(exitCode)
        ? "%s (exit code %d)".formatted(name(exitCode), exitCode)
        : "exit code " + exitCode;
  }

  /** Returns the name of the signal that an exit code above 128 stands for. */
  static String name(int exitCode) {
    int number = exitCode - ExitCodes.SIGNAL;
    return NAMES.getOrDefault(number, "signal " + number);
  }

  /** Returns the exit code of a process that the named signal ends. */
  static int exitCode(String name) {
    return NAMES.entrySet().stream()
        .filter(entry -> entry.getValue().equals(name))
        .map(entry -> ExitCodes.SIGNAL + entry.getKey())
        .findFirst()
        .orElse(ExitCodes.INTERRUPTED);
  }

  /** Returns the likely cause of an end that left no error file. */
  static String cause(int exitCode) {
    if (!ExitCodes.isSignal(exitCode)) {
      return "ended with exit code %d: %s".formatted(exitCode, ExitCodes.describe(exitCode));
    }
    String usual =
        switch (exitCode - ExitCodes.SIGNAL) {
          case 4, 7, 8, 11 -> "a crash in native code; look for hs_err_pid*.log";
          case 6 -> "an abort in native code; look at the last lines of the log";
          case KILL -> "by hand or by the kernel's out-of-memory killer";
          case 2, TERM -> "asked to end from outside";
          default -> "sent from outside";
        };
    return "killed by %s: %s".formatted(name(exitCode), usual);
  }
}
