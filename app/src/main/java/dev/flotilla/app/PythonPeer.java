package dev.flotilla.app;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Runs PyTorch's DistributedDataParallel on the same hosts with the same model and batch. */
final class PythonPeer {

  private static final String SCRIPT = "ddp_step.py";

  private PythonPeer() {}

  /** Measures; says why not where Python or one of its packages is missing. */
  static Optional<Map<String, Object>> measure(
      String python, String model, int batch, Optional<Lab> lab, int hosts, int rounds, Path folder)
      throws InterruptedException {
    try {
      var script = folder.resolve(SCRIPT);
      Files.write(script, source());
      HostProcesses.run(
          commands(List.of(python, script.toString(), model, "" + batch, "" + rounds), lab, hosts),
          folder);
      return Optional.of(Json.read(Path.of(script + ".json")));
    } catch (IOException | RuntimeException failure) {
      System.err.println("flotilla: no row of Python's PyTorch: " + failure.getMessage());
      return Optional.empty();
    }
  }

  private static List<List<String>> commands(List<String> python, Optional<Lab> lab, int hosts) {
    List<List<String>> commands = new ArrayList<>();
    for (int rank = 0; rank < hosts; rank++) {
      List<String> command = new ArrayList<>();
      int host = rank;
      lab.ifPresent(l -> command.addAll(l.on(host)));
      String address = lab.map(l -> l.address(0)).orElse("127.0.0.1");
      String device = lab.isPresent() ? "e0" : "lo";
      command.addAll(
          List.of(
              "env",
              "RANK=" + rank,
              "WORLD_SIZE=" + hosts,
              "MASTER_ADDR=" + address,
              "MASTER_PORT=29790",
              "GLOO_SOCKET_IFNAME=" + device));
      command.addAll(python);
      commands.add(command);
    }
    return commands;
  }

  private static byte[] source() {
    try (var stream = PythonPeer.class.getResourceAsStream(SCRIPT)) {
      if (stream == null) {
        throw new IllegalStateException(SCRIPT + " is missing from the jar");
      }
      return stream.readAllBytes();
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }
}
