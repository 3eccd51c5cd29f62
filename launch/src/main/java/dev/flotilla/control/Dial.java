package dev.flotilla.control;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** Connects to the launcher of the first host, which may start later than this one. */
public final class Dial {

  private static final Duration PAUSE = Duration.ofMillis(250);

  private final String host;
  private final int port;
  private final JobKey key;
  private final Identity self;
  private final Duration patience;
  private final Optional<SocketAddress> near;
  private final long deadline;
  private long nextTry = System.nanoTime();
  private @Nullable SocketChannel channel;
  private @Nullable CompletableFuture<InetSocketAddress> address;

  /**
   * Creates a connection to be.
   *
   * @param host name or address of the first host
   * @param port port of its launcher
   * @param node number of this host
   * @param patience how long to try
   */
  public Dial(String host, int port, JobKey key, int node, Duration patience) {
    this(host, port, key, Identity.ofHost(node), patience, Optional.empty());
  }

  private Dial(
      String host,
      int port,
      JobKey key,
      Identity self,
      Duration patience,
      Optional<SocketAddress> near) {
    this.host = host;
    this.port = port;
    this.key = key;
    this.self = self;
    this.patience = patience;
    this.near = near;
    this.deadline = System.nanoTime() + patience.toNanos();
  }

  /** Returns a new try to connect, as the same launcher, after the connection was lost. */
  public Dial again() {
    return new Dial(host, port, key, self, patience, near);
  }

  /** Returns the same for somebody on this host who carries the connection there. */
  public Dial through(SocketAddress carrier) {
    return new Dial(host, port, key, self, patience, Optional.of(carrier));
  }

  Connection.Greeter greeter() {
    return new ClientGreeter(key, self);
  }

  String failed(IOException why) {
    return "this launcher could not reach that of the first host at %s:%d (%s); failures there are"
            .formatted(host, port, why.getMessage())
        + " not told here, and this host cannot take part in an agreed stop or a restart";
  }

  /**
   * Goes on connecting; returns the connection when it stands.
   *
   * @throws IOException when the time is up
   */
  Optional<SocketChannel> attempt() throws IOException {
    if (System.nanoTime() - nextTry < 0) {
      return Optional.empty();
    }
    try {
      return proceed();
    } catch (IOException e) {
      forget();
      nextTry = System.nanoTime() + PAUSE.toNanos();
      if (nextTry - deadline > 0) {
        throw e;
      }
      return Optional.empty();
    }
  }

  private Optional<SocketChannel> proceed() throws IOException {
    if (channel == null) {
      channel = start();
    }
    if (System.nanoTime() - deadline > 0) {
      throw new IOException("no answer");
    }
    if (channel == null || !channel.finishConnect()) {
      return Optional.empty();
    }
    SocketChannel connected = channel;
    channel = null;
    // If the other end does not greet, this is tried again.
    nextTry = System.nanoTime() + PAUSE.toNanos();
    return Optional.of(connected);
  }

  /** Starts to connect once the name is known; asking for it may take long. */
  private @Nullable SocketChannel start() throws IOException {
    if (near.isPresent()) {
      SocketChannel connected = SocketChannel.open(near.get());
      connected.configureBlocking(false);
      return connected;
    }
    if (address == null) {
      address = CompletableFuture.supplyAsync(() -> new InetSocketAddress(host, port));
    }
    if (!address.isDone()) {
      return null;
    }
    InetSocketAddress known = address.join();
    if (known.isUnresolved()) {
      address = null;
      throw new IOException("unknown host");
    }
    SocketChannel started = SocketChannel.open();
    started.configureBlocking(false);
    boolean _ = started.connect(known);
    return started;
  }

  /** Gives up a connection that does not stand yet. */
  void forget() throws IOException {
    if (channel != null) {
      channel.close();
      channel = null;
    }
  }
}
