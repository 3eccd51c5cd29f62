package dev.flotilla.control;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Comparator;
import java.util.Map;

/** Writes the stacks of all threads of this process to a file that only its owner can read. */
final class ThreadDump {

  private ThreadDump() {}

  static Path file(Path folder, int rank) {
    return folder.resolve("threads.rank-%d.txt".formatted(rank));
  }

  static void write(Path folder, int rank) throws IOException {
    var text = new StringBuilder();
    text.append("rank %d (pid %d), %s%n".formatted(rank, ProcessHandle.current().pid(), now()));
    Thread.getAllStackTraces().entrySet().stream()
        .sorted(Map.Entry.comparingByKey(Comparator.comparingLong(Thread::threadId)))
        .forEach(entry -> append(text, entry.getKey(), entry.getValue()));
    try (OutputStream out = PrivateFiles.newFile(file(folder, rank))) {
      out.write(text.toString().getBytes(StandardCharsets.UTF_8));
    }
  }

  private static void append(StringBuilder text, Thread thread, StackTraceElement[] stack) {
    text.append("%n\"%s\" %s%n".formatted(thread.getName(), thread.getState()));
    for (StackTraceElement frame : stack) {
      text.append("    at %s%n".formatted(frame));
    }
  }

  private static Instant now() {
    return Instant.now();
  }
}
