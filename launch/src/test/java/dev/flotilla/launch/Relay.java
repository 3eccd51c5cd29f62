package dev.flotilla.launch;

import java.io.Closeable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** Passes connections on to a port of this host, and can cut them all. */
final class Relay implements AutoCloseable {

  private final ServerSocket server;
  private final int target;
  private final List<Socket> sockets = new CopyOnWriteArrayList<>();

  private Relay(ServerSocket server, int target) {
    this.server = server;
    this.target = target;
  }

  static Relay to(int target) throws IOException {
    var relay = new Relay(new ServerSocket(0, 50, InetAddress.getLoopbackAddress()), target);
    Thread.ofVirtual().start(relay::serve);
    return relay;
  }

  int port() {
    return server.getLocalPort();
  }

  boolean isUsed() {
    return !sockets.isEmpty();
  }

  private void serve() {
    try {
      while (true) {
        Socket client = server.accept();
        sockets.add(client);
        connect(client);
      }
    } catch (IOException closed) {
      close();
    }
  }

  private void connect(Socket client) {
    try {
      var host = new Socket(InetAddress.getLoopbackAddress(), target);
      sockets.add(host);
      pass(client, host);
      pass(host, client);
    } catch (IOException refused) {
      closeQuietly(client);
    }
  }

  private static void pass(Socket from, Socket to) {
    Thread.ofVirtual()
        .start(
            () -> {
              try (from;
                  to) {
                from.getInputStream().transferTo(to.getOutputStream());
              } catch (IOException cut) {
                closeQuietly(to);
              }
            });
  }

  /** Ends all connections; new ones are passed on. */
  void cut() {
    sockets.forEach(Relay::closeQuietly);
    sockets.clear();
  }

  private static void closeQuietly(Closeable socket) {
    try {
      socket.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() {
    closeQuietly(server);
    cut();
  }
}
