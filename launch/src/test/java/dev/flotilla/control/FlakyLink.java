package dev.flotilla.control;

import java.io.Closeable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** A link between two hosts that can be cut, and can hold back what it carries. */
public final class FlakyLink implements AutoCloseable {

  private static final int CHUNK = 1000;

  private final ServerSocket server;
  private final int target;
  private final List<Socket> sockets = new CopyOnWriteArrayList<>();
  private volatile boolean isHeld;

  private FlakyLink(ServerSocket server, int target) {
    this.server = server;
    this.target = target;
  }

  public static FlakyLink to(int target) throws IOException {
    var link = new FlakyLink(new ServerSocket(0, 50, InetAddress.getLoopbackAddress()), target);
    Thread.ofVirtual().start(link::serve);
    return link;
  }

  public int port() {
    return server.getLocalPort();
  }

  /** Whether anything has been connected since the last cut. */
  public boolean isUsed() {
    return !sockets.isEmpty();
  }

  /** Holds everything back from now on, or lets it through. */
  void hold(boolean holds) {
    isHeld = holds;
  }

  /** Ends all connections in the middle of what they carry; new ones are carried. */
  public void cut() {
    sockets.forEach(FlakyLink::closeQuietly);
    sockets.clear();
  }

  private void serve() {
    try {
      while (true) {
        Socket near = server.accept();
        sockets.add(near);
        connect(near);
      }
    } catch (IOException closed) {
      cut();
    }
  }

  private void connect(Socket near) {
    try {
      var far = new Socket(InetAddress.getLoopbackAddress(), target);
      sockets.add(far);
      Thread.ofVirtual().start(() -> carry(near, far));
      Thread.ofVirtual().start(() -> carry(far, near));
    } catch (IOException refused) {
      closeQuietly(near);
    }
  }

  private void carry(Socket from, Socket to) {
    var chunk = new byte[CHUNK];
    try (from;
        to) {
      for (int n = from.getInputStream().read(chunk);
          n >= 0;
          n = from.getInputStream().read(chunk)) {
        while (isHeld) {
          Thread.sleep(1);
        }
        to.getOutputStream().write(chunk, 0, n);
      }
    } catch (IOException cut) {
      // Both ends are closed now.
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
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
    isHeld = false;
    closeQuietly(server);
    cut();
  }
}
