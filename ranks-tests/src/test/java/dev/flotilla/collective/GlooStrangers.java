package dev.flotilla.collective;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** Somebody who connects to ports of Gloo, and keeps the connections. */
final class GlooStrangers implements AutoCloseable {

  private final InetAddress from;
  private final List<SocketChannel> held = new CopyOnWriteArrayList<>();

  GlooStrangers(String from) {
    this.from = InetAddress.ofLiteral(from);
  }

  /** Says to be each of eight connections that a rank may expect, and waits a little. */
  void takePlaces(int port) {
    var silent = new ArrayList<>(connect(port, 8));
    long end = System.nanoTime() + 50_000_000;
    int number = 0;
    while (System.nanoTime() < end && !silent.isEmpty()) {
      if (say(silent.getFirst(), number)) {
        silent.removeFirst();
        number++;
      }
      Thread.onSpinWait();
    }
  }

  private static boolean say(SocketChannel channel, int number) {
    var bytes = ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN).putLong(number).flip();
    try {
      return (channel.isConnected() || channel.finishConnect()) && channel.write(bytes) > 0;
    } catch (IOException turnedAway) {
      return true;
    }
  }

  /** Begins many connections. */
  List<SocketChannel> connect(int port, int count) {
    var begun = new ArrayList<SocketChannel>();
    for (int i = 0; i < count; i++) {
      try {
        SocketChannel channel = SocketChannel.open();
        channel.bind(new InetSocketAddress(from, 0));
        channel.configureBlocking(false);
        boolean _ = channel.connect(new InetSocketAddress("127.0.0.1", port));
        begun.add(channel);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
    held.addAll(begun);
    return begun;
  }

  /** Returns how many connections stand. */
  long connected() {
    return held.stream().filter(GlooStrangers::isConnected).count();
  }

  private static boolean isConnected(SocketChannel channel) {
    try {
      return channel.isConnected() || channel.finishConnect();
    } catch (IOException refused) {
      return false;
    }
  }

  @Override
  public void close() throws IOException {
    for (SocketChannel channel : held) {
      channel.close();
    }
  }
}
