package dev.flotilla.control;

import java.io.Closeable;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.Optional;

/** A connection of a hub, from its first byte on; belongs to the hub's thread. */
final class Connection implements Closeable {

  /** What each end does until both know each other. */
  interface Greeter {

    /** Says the first word, if this end says it. */
    void start(Wire wire) throws IOException;

    /**
     * Takes a frame; returns who is at the other end once that is proved.
     *
     * @throws IOException if it can never be
     */
    Optional<Identity> take(Frame frame, Wire wire) throws IOException;

    /** Returns the seals of what follows, once who is at the other end is proved. */
    Seal.Pair seals();
  }

  private final Wire wire;
  private final SelectionKey key;
  private final Greeter greeter;
  private final long deadline;
  private final Optional<InetAddress> from;
  private Optional<Identity> other = Optional.empty();

  private Connection(
      Wire wire,
      Optional<InetAddress> from,
      SelectionKey key,
      Greeter greeter,
      Duration greetingTakes) {
    this.wire = wire;
    this.from = from;
    this.key = key;
    this.greeter = greeter;
    this.deadline = System.nanoTime() + greetingTakes.toNanos();
  }

  static Connection open(
      SocketChannel channel, SelectionKey key, Greeter greeter, Duration greetingTakes)
      throws IOException {
    var wire = new Wire(channel);
    var connection = new Connection(wire, remote(channel), key, greeter, greetingTakes);
    greeter.start(wire);
    return connection;
  }

  private static Optional<InetAddress> remote(SocketChannel channel) throws IOException {
    return channel.getRemoteAddress() instanceof InetSocketAddress known
        ? Optional.of(known.getAddress())
        : Optional.empty();
  }

  /** Returns who is at the other end, once that is proved. */
  Optional<Identity> other() {
    return other;
  }

  Optional<Peer> peer() {
    return other.map(Identity::peer);
  }

  boolean isLate() {
    return other.isEmpty() && System.nanoTime() - deadline > 0;
  }

  /** Tells whether the other end has sent anything. */
  boolean hasBegun() {
    return wire.hasBegun();
  }

  /** Returns the address of the other end; ranks of this host have none. */
  Optional<InetAddress> from() {
    return from;
  }

  /** Tells whether the other end is at the same address; ranks of this host have none. */
  boolean isNeighbourOf(Connection other) {
    return from.isPresent() && from.equals(other.from);
  }

  void receive(Wire.Taker taker) throws IOException {
    wire.receive(taker);
  }

  /** Takes a frame of the greeting; tells whether it was the last. */
  boolean greet(Frame frame) throws IOException {
    other = greeter.take(frame, wire);
    if (other.isPresent()) {
      wire.trust(greeter.seals());
    }
    return other.isPresent();
  }

  void send(Frame frame, int generation) throws IOException {
    wire.send(frame, generation);
    waitForRoom();
  }

  void flush() throws IOException {
    wire.flush();
    waitForRoom();
  }

  private void waitForRoom() throws IOException {
    boolean isSent = wire.flush();
    key.interestOps(isSent ? SelectionKey.OP_READ : SelectionKey.OP_READ | SelectionKey.OP_WRITE);
  }

  @Override
  public void close() throws IOException {
    key.cancel();
    wire.close();
  }
}
