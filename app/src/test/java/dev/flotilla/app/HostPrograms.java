package dev.flotilla.app;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Programs among these tests that run in a network of {@link TwoHosts}; they end with this. */
final class HostPrograms implements AutoCloseable {

  private final Path folder;
  private final List<Process> started = new ArrayList<>();

  /**
   * Starts none yet.
   *
   * @param folder for what they print
   */
  HostPrograms(Path folder) {
    this.folder = folder;
  }

  /** Starts a program; what it prints goes to a file. */
  Process start(String network, String log, Class<?> main, String... arguments) throws IOException {
    var command = new ArrayList<>(List.of("ip", "netns", "exec", network));
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-XX:+UseSerialGC", "--enable-native-access=ALL-UNNAMED"));
    command.addAll(List.of("-cp", PackedJars.classPath(), main.getName()));
    command.addAll(List.of(arguments));
    Process program =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(folder.resolve(log).toFile())
            .start();
    started.add(program);
    return program;
  }

  @Override
  public void close() {
    started.forEach(Process::destroyForcibly);
  }
}
