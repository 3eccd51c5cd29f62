package dev.flotilla.launch.tls;

import dev.flotilla.control.AcceptLimit;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/** A door on loopback with one thing behind it, {@code "target"}, and ways to call there. */
final class TestDoor implements AutoCloseable {

  private final ScheduledExecutorService clock = Executors.newSingleThreadScheduledExecutor();
  private final Tunnel.All tunnels = new Tunnel.All();
  private final ServerSocket behind = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
  private final BlockingQueue<String> warnings = new LinkedBlockingQueue<>();
  private final BlockingQueue<IOException> failures = new LinkedBlockingQueue<>();
  private final List<Forwarder> forwarders = new ArrayList<>();
  private final Door door;

  TestDoor(SecureChannel channel, Duration greetingTakes) throws IOException {
    behind.setSoTimeout(20_000);
    SocketAddress address = behind.getLocalSocketAddress();
    this.door =
        Door.open(
            new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
            AcceptLimit.of(() -> true),
            channel,
            tunnels,
            clock,
            name -> name.equals("target") ? Optional.of(address) : Optional.empty(),
            warnings::add,
            greetingTakes);
  }

  int port() {
    return door.port();
  }

  /** Returns the other end of a connection that came through the door. */
  Socket accepted() throws IOException {
    Socket socket = behind.accept();
    socket.setSoTimeout(20_000);
    return socket;
  }

  /** Returns a local connection that a channel carries to the door. */
  Socket call(SecureChannel channel, String host, String target) throws IOException {
    ServerSocketChannel near =
        ServerSocketChannel.open().bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    var to = new Caller.Destination(host, port(), target, Optional.empty());
    forwarders.add(
        Forwarder.start(near, new Caller(channel, tunnels, clock), to, 10, failures::add));
    var socket = new Socket();
    socket.connect(near.getLocalAddress());
    socket.setSoTimeout(20_000);
    return socket;
  }

  /** Returns why the last call was not carried. */
  IOException failure() throws InterruptedException {
    IOException failure = failures.poll(20, TimeUnit.SECONDS);
    if (failure == null) {
      throw new AssertionError("the call was carried");
    }
    return failure;
  }

  /** Returns the next thing that the door says of somebody. */
  String warning() throws InterruptedException {
    return String.valueOf(warnings.poll(20, TimeUnit.SECONDS));
  }

  boolean hasWarned() {
    return !warnings.isEmpty();
  }

  @Override
  public void close() throws IOException {
    door.close();
    forwarders.forEach(Forwarder::close);
    tunnels.close(Duration.ZERO);
    clock.shutdownNow();
    behind.close();
  }
}
