package dev.flotilla.control;

import java.io.IOException;
import java.net.InetAddress;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.Optional;
import java.util.function.BiConsumer;
import java.util.function.Supplier;

/** Where a hub accepts connections; belongs to the hub's thread. */
final class Listener {

  private static final Duration AFTER_FAILURE = Duration.ofMillis(20);

  private final ServerSocketChannel server;
  private final SelectionKey key;
  private final Supplier<Connection.Greeter> greeters;
  private final Optional<AcceptLimit> limit;
  private long pausedUntil;

  private Listener(
      ServerSocketChannel server,
      SelectionKey key,
      Supplier<Connection.Greeter> greeters,
      Optional<AcceptLimit> limit) {
    this.server = server;
    this.key = key;
    this.greeters = greeters;
    this.limit = limit;
  }

  static Listener open(
      ServerSocketChannel server,
      Selector selector,
      Supplier<Connection.Greeter> greeters,
      Optional<AcceptLimit> limit)
      throws IOException {
    server.configureBlocking(false);
    SelectionKey key = server.register(selector, SelectionKey.OP_ACCEPT);
    var listener = new Listener(server, key, greeters, limit);
    key.attach(listener);
    return listener;
  }

  /**
   * Accepts who waits.
   *
   * @throws IOException if that fails, as it would again at once
   */
  void accept(BiConsumer<SocketChannel, Connection.Greeter> taker) throws IOException {
    try {
      if (limit.isPresent()) {
        pause(limit.get().accept(server, it -> taker.accept(it, greeters.get())));
        return;
      }
      SocketChannel next = server.accept();
      if (next != null) {
        taker.accept(next, greeters.get());
      }
    } catch (IOException e) {
      pause(AFTER_FAILURE);
      throw e;
    }
  }

  void trust(InetAddress member) {
    limit.ifPresent(it -> it.trust(member));
  }

  private void pause(Duration pause) {
    if (pause.isPositive()) {
      key.interestOps(0);
      pausedUntil = System.nanoTime() + pause.toNanos();
    }
  }

  private boolean isPaused() {
    return key.isValid() && key.interestOps() == 0;
  }

  /** Returns in how many milliseconds somebody is accepted again, or so many if now. */
  long resumesInMillis(long otherwise) {
    long left = (pausedUntil - System.nanoTime()) / 1_000_000 + 1;
    return isPaused() ? Math.clamp(left, 1, otherwise) : otherwise;
  }

  /** Goes on after a pause. */
  void resume() {
    if (isPaused() && System.nanoTime() - pausedUntil >= 0) {
      key.interestOps(SelectionKey.OP_ACCEPT);
    }
  }
}
