package dev.flotilla.bench;

import dev.flotilla.control.AcceptLimit;
import dev.flotilla.control.Hub;
import dev.flotilla.control.JobKey;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.channels.ServerSocketChannel;

/**
 * Somebody who has nothing to do with the job, and turns a stranger away as it does: a launcher's
 * port, alone in a process.
 */
final class StrangerDecoy {

  static final String PLACE = StrangerNetwork.ELSEWHERE + ":29501";

  private StrangerDecoy() {}

  /** Listens until its orders end. */
  public static void main(String[] args) throws IOException {
    try (var hub = Hub.open()) {
      var address = new InetSocketAddress(StrangerNetwork.ELSEWHERE, 29501);
      var server = ServerSocketChannel.open().bind(address, AcceptLimit.BACKLOG);
      hub.listenForHosts(server, JobKey.of(JobKey.newText()), AcceptLimit.of(() -> false));
      int _ = System.in.read();
    }
    System.exit(0);
  }
}
