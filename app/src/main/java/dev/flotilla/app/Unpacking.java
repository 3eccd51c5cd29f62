package dev.flotilla.app;

import dev.flotilla.launch.LaunchException;
import dev.flotilla.launch.RankCommand;
import dev.flotilla.memory.NativeLibraries;
import dev.flotilla.settings.ConfigException;
import dev.flotilla.world.ExitCodes;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Gets libtorch ready in a process of its own, so that the launcher never loads it. */
final class Unpacking {

  /** On arm64 it may have to be downloaded. */
  private static final long LONGEST_SECONDS = 1800;

  private static final String PREFIX = "flotilla: ";

  private Unpacking() {}

  static void ensureDone() {
    if (NativeLibraries.areUnpacked()) {
      return;
    }
    System.err.println(PREFIX + "getting libtorch ready for this machine, once");
    List<String> command = new ArrayList<>();
    command.add(RankCommand.currentJava().toString());
    command.addAll(JvmOptions.ofRanks());
    command.addAll(List.of("-cp", System.getProperty("java.class.path")));
    command.addAll(List.of(Main.class.getName(), "unpack"));
    try {
      finish(new ProcessBuilder(command).redirectOutput(ProcessBuilder.Redirect.INHERIT).start());
    } catch (IOException failure) {
      throw new UncheckedIOException("cannot start java to unpack libtorch", failure);
    }
  }

  private static void finish(Process process) {
    var passedOn = new FutureTask<>(() -> passOn(process.errorReader()));
    Thread.ofVirtual().start(passedOn);
    try {
      var lastWords = passedOn.get(LONGEST_SECONDS, TimeUnit.SECONDS);
      int exitCode = process.waitFor();
      if (exitCode == ExitCodes.USAGE) {
        throw new LaunchException(lastWords.replaceFirst("^" + PREFIX, ""));
      }
      if (!lastWords.isEmpty()) {
        System.err.println(lastWords);
      }
      if (exitCode != 0) {
        throw new ConfigException("native libraries", "libtorch could not be unpacked; see above");
      }
    } catch (TimeoutException tooLong) {
      throw new ConfigException(
          "native libraries", "libtorch was not ready after " + LONGEST_SECONDS + " s; see above");
    } catch (ExecutionException broken) {
      throw new IllegalStateException("cannot read what unpacking says", broken);
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while unpacking libtorch", stopped);
    } finally {
      process.destroyForcibly();
    }
  }

  /** Prints lines as they come, all but the last: it may be the reason of a failure. */
  private static String passOn(BufferedReader lines) throws IOException {
    var held = "";
    for (var line = lines.readLine(); line != null; line = lines.readLine()) {
      if (!held.isEmpty()) {
        System.err.println(held);
      }
      held = line;
    }
    return held;
  }
}
