package dev.flotilla.control;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * J2: whoever speaks to the launchers' port as to libtorch's store, or with a key that is wrong, of
 * another job or used before, is refused within a second, 200 times of 200.
 */
@Timeout(60)
class RefusedStrangerTests {

  /** What begins a conversation with a TCPStore, and how many commands it has. */
  private static final int MAGIC_OF_STORES = 0x3c85f7ce;

  private static final int COMMANDS_OF_STORES = 17;
  private static final int TIMES = 200;
  private static final Duration REFUSED_WITHIN = Duration.ofSeconds(1);
  private static final JobKey KEY = JobKey.of("k".repeat(64));
  private static final byte CHALLENGE = 1;

  private Hub hub;
  private InetSocketAddress address;

  @BeforeEach
  void open() throws IOException {
    hub = Hub.open();
    var server =
        ServerSocketChannel.open().bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    address = (InetSocketAddress) server.getLocalAddress();
    hub.listenForHosts(server, KEY);
  }

  @AfterEach
  void close() {
    hub.close();
  }

  @Test
  void noCommandOfAStoreIsObeyed() throws IOException {
    for (int command = 0; command < COMMANDS_OF_STORES; command++) {
      try (var socket = new Socket(address.getAddress(), address.getPort())) {
        socket.setSoTimeout((int) REFUSED_WITHIN.toMillis());
        var question = ByteBuffer.allocate(64).putInt(MAGIC_OF_STORES).put((byte) command).array();
        socket.getOutputStream().write(question);
        byte[] answer = answer(socket);
        assertThat(answer.length == 0 || answer[4] == CHALLENGE).as("command %d", command).isTrue();
      }
    }
  }

  /** Returns everything until the other end closes the connection, in time. */
  private static byte[] answer(Socket socket) throws IOException {
    try {
      return socket.getInputStream().readAllBytes();
    } catch (java.net.SocketException reset) {
      return new byte[0];
    }
  }

  @Test
  void keysThatAreWrongOfAnotherJobOrUsedBeforeAreRefusedAtOnce() throws Exception {
    Frame.Hello used = admitted();
    long longest = 0;
    for (int i = 0; i < TIMES; i++) {
      long start = System.nanoTime();
      try (SocketChannel channel = SocketChannel.open(address)) {
        var wire = new Wire(channel);
        var challenge = (Frame.Challenge) receive(wire);
        wire.send(
            switch (i % 3) {
              case 0 -> Greeting.hello(JobKey.known(), challenge, Identity.ofHost(1));
              case 1 -> Greeting.hello(KEY.derived("yesterday"), challenge, Identity.ofHost(1));
              default -> used;
            });
        assertThat(receive(wire)).isEqualTo(new Frame.Refused("wrong job key"));
      }
      longest = Math.max(longest, System.nanoTime() - start);
    }
    assertThat(Duration.ofNanos(longest)).isLessThan(REFUSED_WITHIN);
    System.out.printf(
        "%d strangers refused, the slowest after %d ms%n",
        TIMES, TimeUnit.NANOSECONDS.toMillis(longest));
  }

  /** Returns a greeting that was taken, by somebody who has left. */
  private Frame.Hello admitted() throws Exception {
    try (SocketChannel channel = SocketChannel.open(address)) {
      var wire = new Wire(channel);
      Frame.Hello hello = Greeting.hello(KEY, (Frame.Challenge) receive(wire), Identity.ofHost(1));
      wire.send(hello);
      assertThat(receive(wire)).isInstanceOf(Frame.Welcome.class);
      return hello;
    }
  }

  private static Frame receive(Wire wire) throws Exception {
    var frames = new ArrayList<Frame>();
    while (frames.isEmpty()) {
      wire.receiveOne((frame, _) -> frames.add(frame));
      Thread.sleep(1);
    }
    return frames.getFirst();
  }
}
