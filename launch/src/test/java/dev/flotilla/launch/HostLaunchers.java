package dev.flotilla.launch;

import dev.flotilla.control.PrivateFiles;
import java.io.IOException;
import java.io.OutputStream;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;

/** The launchers of a job of two hosts, which are both this one; they end with this. */
final class HostLaunchers implements AutoCloseable {

  private final Path folder;
  private final int port;
  private final String key;
  private final List<LauncherProcess> started = new ArrayList<>();

  /**
   * Starts none yet.
   *
   * @param folder of the job
   * @param port master's port
   * @param key of the job
   */
  HostLaunchers(Path folder, int port, String key) {
    this.folder = folder;
    this.port = port;
    this.key = key;
  }

  /**
   * Returns a port that is free, as is the next one; below those that the system gives to
   * connections, so that another process does not get it by chance.
   */
  static int freePort() throws IOException {
    for (int i = 0; i < 100; i++) {
      int port = ThreadLocalRandom.current().nextInt(12_000, 32_000);
      try (var _ = new ServerSocket(port);
          var _ = new ServerSocket(port + 1)) {
        return port;
      } catch (IOException taken) {
        // Another pair.
      }
    }
    throw new IOException("no two ports in a row are free");
  }

  LauncherProcess start(int node, List<String> variables, String... steps) throws IOException {
    Path own = folder.resolve("host" + node);
    PrivateFiles.createFolders(own);
    Path keyFile = own.resolve("key");
    try (OutputStream out = PrivateFiles.newFile(keyFile)) {
      out.write(key.getBytes(StandardCharsets.UTF_8));
    }
    var properties =
        List.of("test.port=" + port, "test.node=" + node, "test.key=" + keyFile, "test.restarts=0");
    LauncherProcess host = LauncherProcess.start(variables, properties, own, 1, steps);
    started.add(host);
    return host;
  }

  @Override
  public void close() {
    started.forEach(LauncherProcess::close);
  }
}
