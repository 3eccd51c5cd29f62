package dev.flotilla.launch.tls;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.net.StandardSocketOptions;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import javax.net.ssl.SSLSocket;

/**
 * Copies what comes over a local connection into a secure one, and back, until both have ended.
 *
 * <p>Where one end has said its last word, the other learns so and may go on. Where one end breaks,
 * so does the other: as a connection that was reset.
 */
final class Tunnel {

  private static final int BUFFER = 128 * 1024;

  /** So many tunnels have threads of the system. */
  private static final int FEW = 256;

  private static final Duration PAUSE = Duration.ofMillis(5);

  private final Socket carrier;
  private final SSLSocket secure;
  private final SocketChannel local;
  private final AtomicInteger open = new AtomicInteger(2);

  private Tunnel(Socket carrier, SSLSocket secure, SocketChannel local) {
    this.carrier = carrier;
    this.secure = secure;
    this.local = local;
  }

  /** The tunnels of a launcher. */
  static final class All {

    private final Set<Tunnel> tunnels = ConcurrentHashMap.newKeySet();
    private volatile boolean isClosed;

    /**
     * Begins to copy.
     *
     * @param carrier what TLS runs over
     */
    void start(Socket carrier, SSLSocket secure, SocketChannel local) throws IOException {
      carrier.setSoTimeout(0);
      local.configureBlocking(true);
      if (!isUnix(local)) {
        local.setOption(StandardSocketOptions.TCP_NODELAY, true);
      }
      var tunnel = new Tunnel(carrier, secure, local);
      tunnels.add(tunnel);
      start(() -> tunnel.copy(tunnel::outward, this));
      start(() -> tunnel.copy(tunnel::inward, this));
      if (isClosed) {
        tunnel.abort();
      }
    }

    /** Threads of the system are quicker; there may be too many of them. */
    private void start(Runnable work) {
      Thread.Builder builder =
          tunnels.size() > FEW ? Thread.ofVirtual() : Thread.ofPlatform().daemon();
      builder.name("flotilla-tunnel").start(work);
    }

    /** Waits until what was said last has been passed on, but no longer than that. */
    void close(Duration longest) {
      long deadline = System.nanoTime() + longest.toNanos();
      while (!tunnels.isEmpty() && System.nanoTime() - deadline < 0) {
        LockSupport.parkNanos(PAUSE.toNanos());
      }
      isClosed = true;
      tunnels.forEach(Tunnel::abort);
    }
  }

  private static boolean isUnix(SocketChannel channel) throws IOException {
    return channel.getLocalAddress() instanceof UnixDomainSocketAddress;
  }

  private interface Direction {
    void copy() throws IOException;
  }

  private void copy(Direction direction, All all) {
    try {
      direction.copy();
    } catch (IOException | RuntimeException e) {
      abort();
    }
    if (open.decrementAndGet() == 0) {
      all.tunnels.remove(this);
      closeBoth();
    }
  }

  private void outward() throws IOException {
    ByteBuffer buffer = ByteBuffer.allocate(BUFFER);
    OutputStream out = secure.getOutputStream();
    while (local.read(buffer.clear()) >= 0) {
      out.write(buffer.array(), 0, buffer.position());
    }
    secure.shutdownOutput();
  }

  private void inward() throws IOException {
    var buffer = new byte[BUFFER];
    InputStream in = secure.getInputStream();
    for (int count = in.read(buffer); count >= 0; count = in.read(buffer)) {
      var bytes = ByteBuffer.wrap(buffer, 0, count);
      while (bytes.hasRemaining()) {
        local.write(bytes);
      }
    }
    local.shutdownOutput();
  }

  private void closeBoth() {
    Closing.quietly(local);
    Closing.quietly(carrier);
  }

  /** Not through TLS, which would wait for a writer that the other end does not read. */
  private void abort() {
    try {
      if (!isUnix(local)) {
        local.setOption(StandardSocketOptions.SO_LINGER, 0);
      }
      carrier.setSoLinger(true, 0);
    } catch (IOException e) {
      // It is closed already, or never was connected.
    }
    closeBoth();
  }
}
