package dev.flotilla.launch.tls;

import java.io.Closeable;
import java.io.IOException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.concurrent.Semaphore;
import java.util.function.Consumer;

/** Listens on this host alone, and carries each connection to a door of another host. */
final class Forwarder implements Closeable {

  /** Members of a job on one host; nobody else has reason to come. */
  private static final int MOST_AT_ONCE = 1024;

  private final ServerSocketChannel server;
  private final Caller caller;
  private final Caller.Destination to;
  private final int tries;
  private final Consumer<IOException> failures;
  private final Semaphore places = new Semaphore(MOST_AT_ONCE);

  private Forwarder(
      ServerSocketChannel server,
      Caller caller,
      Caller.Destination to,
      int tries,
      Consumer<IOException> failures) {
    this.server = server;
    this.caller = caller;
    this.to = to;
    this.tries = tries;
    this.failures = failures;
  }

  /**
   * Begins to listen.
   *
   * @param server bound to an address of this host alone; closed with this
   * @param tries how often the door is called for each connection
   * @param failures hears why a connection could not be carried
   */
  static Forwarder start(
      ServerSocketChannel server,
      Caller caller,
      Caller.Destination to,
      int tries,
      Consumer<IOException> failures) {
    var forwarder = new Forwarder(server, caller, to, tries, failures);
    Thread.ofPlatform().daemon().name("flotilla-forwarder").start(forwarder::run);
    return forwarder;
  }

  private void run() {
    while (server.isOpen()) {
      try {
        SocketChannel local = server.accept();
        if (places.tryAcquire()) {
          Thread.ofPlatform().daemon().name("flotilla-caller").start(() -> carry(local));
        } else {
          local.close();
        }
      } catch (IOException e) {
        if (server.isOpen()) {
          failures.accept(e);
        }
      }
    }
  }

  private void carry(SocketChannel local) {
    try {
      caller.carry(local, to, tries);
    } catch (IOException e) {
      failures.accept(e);
    } finally {
      places.release();
    }
  }

  @Override
  public void close() {
    Closing.quietly(server);
  }
}
