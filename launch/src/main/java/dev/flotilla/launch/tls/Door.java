package dev.flotilla.launch.tls;

import dev.flotilla.control.AcceptLimit;
import dev.flotilla.control.Refusal;
import java.io.Closeable;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketTimeoutException;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.Function;
import javax.net.ssl.SSLSocket;

/**
 * The port of a launcher that other hosts reach: lets in who is trusted and knows the job's key,
 * and connects him with what he asks for on this host.
 *
 * <p>Who has not yet shown that has little time; the {@linkplain Lobby lobby} says how many there
 * may be.
 */
final class Door implements Closeable {

  /** First byte of TLS: a record of the greeting. */
  private static final byte GREETING_OF_TLS = 22;

  private static final Duration AFTER_FAILURE = Duration.ofMillis(20);

  private final ServerSocketChannel server;
  private final Selector selector;
  private final AcceptLimit limit;
  private final SecureChannel channel;
  private final Tunnel.All tunnels;
  private final ScheduledExecutorService clock;
  private final Function<String, Optional<SocketAddress>> targets;
  private final Consumer<String> warnings;
  private final Duration greetingTakes;
  private final Lobby lobby = new Lobby();
  private final Strangers strangers = new Strangers();

  private Door(
      ServerSocketChannel server,
      Selector selector,
      AcceptLimit limit,
      SecureChannel channel,
      Tunnel.All tunnels,
      ScheduledExecutorService clock,
      Function<String, Optional<SocketAddress>> targets,
      Consumer<String> warnings,
      Duration greetingTakes) {
    this.server = server;
    this.selector = selector;
    this.limit = limit;
    this.channel = channel;
    this.tunnels = tunnels;
    this.clock = clock;
    this.targets = targets;
    this.warnings = warnings;
    this.greetingTakes = greetingTakes;
  }

  /**
   * Opens a door.
   *
   * @param limit how many connections it accepts
   * @param targets what is behind it, by name
   * @param warnings hears who was turned away
   * @param greetingTakes how long somebody may take to say his first word; twice that in all
   */
  static Door open(
      InetSocketAddress address,
      AcceptLimit limit,
      SecureChannel channel,
      Tunnel.All tunnels,
      ScheduledExecutorService clock,
      Function<String, Optional<SocketAddress>> targets,
      Consumer<String> warnings,
      Duration greetingTakes)
      throws IOException {
    ServerSocketChannel server = ServerSocketChannel.open();
    Selector selector = Selector.open();
    try {
      server.bind(address, AcceptLimit.BACKLOG).configureBlocking(false);
      server.register(selector, SelectionKey.OP_ACCEPT);
    } catch (IOException e) {
      selector.close();
      server.close();
      throw e;
    }
    var door =
        new Door(
            server, selector, limit, channel, tunnels, clock, targets, warnings, greetingTakes);
    Thread.ofPlatform().daemon().name("flotilla-door").start(door::run);
    return door;
  }

  int port() {
    return server.socket().getLocalPort();
  }

  private void run() {
    while (server.isOpen()) {
      try {
        int _ = selector.select();
        selector.selectedKeys().clear();
        if (server.isOpen()) {
          Thread.sleep(limit.accept(server, this::enter));
        }
      } catch (IOException | ClosedSelectorException e) {
        // Where no descriptor is left, accepting fails at once, and would again.
        LockSupport.parkNanos(AFTER_FAILURE.toNanos());
      } catch (InterruptedException e) {
        return;
      }
    }
  }

  private void enter(SocketChannel channel) {
    Socket guest = channel.socket();
    if (lobby.enter(guest)) {
      Thread.ofVirtual().name("flotilla-guest").start(() -> receive(guest));
    } else {
      Closing.quietly(guest);
    }
  }

  private void receive(Socket guest) {
    Future<?> deadline = Closing.later(clock, guest, greetingTakes.multipliedBy(2));
    try {
      guest.setTcpNoDelay(true);
      guest.setSoTimeout(Math.toIntExact(greetingTakes.toMillis()));
      byte[] begun = {firstByte(guest)};
      lobby.hasBegun(guest);
      SSLSocket secure = channel.answer(guest, begun);
      String target = channel.proof().take(secure);
      limit.trust(guest.getInetAddress());
      Optional<SocketChannel> local = local(target);
      channel.proof().answer(secure, target, local.isPresent());
      if (local.isPresent() && deadline.cancel(false)) {
        tunnels.start(guest, secure, local.get());
      } else {
        Closing.quietly(guest);
        local.ifPresent(Closing::quietly);
      }
    } catch (IOException | RuntimeException e) {
      name(guest, e);
      Closing.afterLastWord(guest);
      deadline.cancel(false);
    } finally {
      lobby.leave(guest);
    }
  }

  private Optional<SocketChannel> local(String target) {
    Optional<SocketAddress> address = targets.apply(target);
    try {
      return address.isPresent()
          ? Optional.of(SocketChannel.open(address.get()))
          : Optional.empty();
    } catch (IOException e) {
      return Optional.empty();
    }
  }

  /** A launcher without TLS waits for the first word of this end, and is told why there is none. */
  private byte firstByte(Socket guest) throws IOException {
    try {
      int first = guest.getInputStream().read();
      if (first < 0) {
        throw new IOException("the other end closed the connection");
      }
      if (first == GREETING_OF_TLS) {
        return GREETING_OF_TLS;
      }
    } catch (SocketTimeoutException e) {
      explain(guest);
      throw new UntrustedException(
          "it said nothing for %d s; without --secure, it never will"
              .formatted(greetingTakes.toSeconds()));
    }
    explain(guest);
    throw new UntrustedException(TlsTrouble.NO_TLS);
  }

  private static void explain(Socket guest) throws IOException {
    guest
        .getOutputStream()
        .write(Refusal.bytes("this job runs with --secure: " + TlsTrouble.GIVE_ALL));
  }

  private void name(Socket guest, Exception why) {
    if (why instanceof IOException failure) {
      TlsTrouble.lasting(failure)
          .flatMap(reason -> strangers.name(guest.getInetAddress(), reason))
          .ifPresent(warnings);
    }
  }

  @Override
  public void close() {
    Closing.quietly(server);
    Closing.quietly(selector);
    lobby.close();
  }
}
