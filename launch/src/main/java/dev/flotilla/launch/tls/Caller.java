package dev.flotilla.launch.tls;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.locks.LockSupport;
import javax.net.ssl.SSLSocket;

/** Connects to the doors of other hosts. */
final class Caller {

  private static final Duration CONNECTING_TAKES = Duration.ofSeconds(5);
  private static final Duration GREETING_TAKES = Duration.ofSeconds(15);

  /** Much less than a door's patience. */
  private static final Duration SLOW = Duration.ofSeconds(3);

  private static final Duration PAUSE = Duration.ofMillis(300);

  private final SecureChannel channel;
  private final Tunnel.All tunnels;
  private final ScheduledExecutorService clock;
  private volatile boolean isRehearsed;

  Caller(SecureChannel channel, Tunnel.All tunnels, ScheduledExecutorService clock) {
    this.channel = channel;
    this.tunnels = tunnels;
    this.clock = clock;
  }

  /**
   * Where to call.
   *
   * @param host name or address of the host
   * @param port its door
   * @param target what is behind the door
   * @param fingerprint the certificate that must be shown, where it is known
   */
  record Destination(String host, int port, String target, Optional<String> fingerprint) {}

  /**
   * Carries a local connection to a door; it is closed if that cannot be.
   *
   * @param tries how often to call before that; who is not trusted is called once
   */
  void carry(SocketChannel local, Destination to, int tries) throws IOException {
    try {
      for (int left = tries; ; left--) {
        try {
          call(local, to);
          return;
        } catch (IOException e) {
          if (left <= 1 || TlsTrouble.lasting(e).isPresent()) {
            throw e;
          }
        }
        LockSupport.parkNanos(PAUSE.toNanos());
      }
    } catch (IOException | RuntimeException e) {
      Closing.quietly(local);
      throw e;
    }
  }

  private void call(SocketChannel local, Destination to) throws IOException {
    if (!isRehearsed) {
      channel.rehearse();
      isRehearsed = true;
    }
    long start = System.nanoTime();
    var carrier = new Socket();
    Future<?> deadline = Closing.later(clock, carrier, GREETING_TAKES);
    try {
      carrier.connect(
          new InetSocketAddress(to.host(), to.port()),
          Math.toIntExact(CONNECTING_TAKES.toMillis()));
      carrier.setTcpNoDelay(true);
      SSLSocket secure = channel.call(carrier, to.host(), to.fingerprint());
      channel.proof().call(secure, to.target());
      if (!deadline.cancel(false)) {
        throw new SocketTimeoutException("no answer in time");
      }
      tunnels.start(carrier, secure, local);
    } catch (IOException | RuntimeException e) {
      Closing.afterLastWord(carrier);
      deadline.cancel(false);
      if (System.nanoTime() - start > SLOW.toNanos() && TlsTrouble.isWithoutTls(e)) {
        // A door says so to whoever is slow, too.
        throw new SocketTimeoutException("this host was too slow to greet");
      }
      throw e;
    }
  }
}
