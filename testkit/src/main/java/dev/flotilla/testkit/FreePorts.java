package dev.flotilla.testkit;

import java.io.IOException;
import java.net.ServerSocket;
import java.util.concurrent.ThreadLocalRandom;

/** Finds ports for what a test is about to start. */
public final class FreePorts {

  /**
   * Below those that the system gives to connections: another process does not get one by chance.
   */
  private static final int FIRST = 12_000;

  private static final int LAST = 32_000;
  private static final int TRIES = 100;

  private FreePorts() {}

  /** Returns a port that is free, as is the next one, which a job's control plane takes. */
  public static int next() throws IOException {
    for (int i = 0; i < TRIES; i++) {
      int port = ThreadLocalRandom.current().nextInt(FIRST, LAST);
      try (var _ = new ServerSocket(port);
          var _ = new ServerSocket(port + 1)) {
        return port;
      } catch (IOException taken) {
        // Another pair.
      }
    }
    throw new IOException("no two ports in a row are free");
  }
}
