package dev.flotilla.app;

import dev.flotilla.launch.RankCommand;
import dev.flotilla.memory.NativeLibraries;
import dev.flotilla.settings.ConfigException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Unpacks native libraries in a process of its own, so that the launcher never loads them. */
final class Unpacking {

  private static final long LONGEST_SECONDS = 300;

  private Unpacking() {}

  static void ensureDone() {
    if (NativeLibraries.areUnpacked()) {
      return;
    }
    System.err.println("flotilla: unpacking libtorch for this machine, once");
    List<String> command = new ArrayList<>();
    command.add(RankCommand.currentJava().toString());
    command.addAll(JvmOptions.ofRanks());
    command.addAll(List.of("-cp", System.getProperty("java.class.path")));
    command.add(NativeLibraries.class.getName());
    try {
      finish(new ProcessBuilder(command).inheritIO().start());
    } catch (IOException failure) {
      throw new UncheckedIOException("cannot start java to unpack libtorch", failure);
    }
  }

  private static void finish(Process process) {
    try {
      if (!process.waitFor(LONGEST_SECONDS, TimeUnit.SECONDS) || process.exitValue() != 0) {
        throw new ConfigException("native libraries", "libtorch could not be unpacked; see above");
      }
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while unpacking libtorch", stopped);
    } finally {
      process.destroyForcibly();
    }
  }
}
