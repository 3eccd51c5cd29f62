package dev.flotilla.launch.tls;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.control.JobKey;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Strangers at a door, and what passes through it. */
@Timeout(60)
class DoorTests {

  private static final SecureChannel CHANNEL = channel();
  private static final String HOST = "127.0.0.1";

  private final List<Socket> strangers = new ArrayList<>();
  private TestDoor door;

  private static SecureChannel channel() {
    try {
      return SecureChannel.ofJob(JobKey.of("k".repeat(64)));
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  @BeforeEach
  void open() throws IOException {
    door = new TestDoor(CHANNEL, Duration.ofSeconds(10));
  }

  @AfterEach
  void close() throws IOException {
    for (Socket stranger : strangers) {
      stranger.close();
    }
    door.close();
  }

  private Socket stranger(String from) throws IOException {
    var socket = new Socket();
    socket.bind(new InetSocketAddress(from, 0));
    socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), door.port()));
    strangers.add(socket);
    return socket;
  }

  private void assertOpen() throws IOException {
    Socket near = door.call(CHANNEL, HOST, "target");
    near.getOutputStream().write(7);
    assertThat(door.accepted().getInputStream().read()).isEqualTo(7);
  }

  @Test
  void letsMembersInThoughStrangersHoldManyConnections() throws Exception {
    for (int i = 0; i < 400; i++) {
      stranger("127.0.0." + (2 + i % 20));
    }
    assertOpen();
  }

  @Test
  void letsMembersInThoughStrangersSendNoise() throws Exception {
    var random = new Random(7);
    for (int i = 0; i < 200; i++) {
      var noise = new byte[1 + random.nextInt(300)];
      random.nextBytes(noise);
      noise[0] = (byte) (i % 2 == 0 ? 22 : i);
      try {
        stranger("127.0.0.2").getOutputStream().write(noise);
      } catch (IOException e) {
        // The door was quicker.
      }
    }
    assertOpen();
  }

  @Test
  void aFloodPushesNobodyOutWhoHasBegunAndOneAddressHoldsAQuarterAtMost() throws Exception {
    for (int i = 0; i < Lobby.MOST_OF_ONE_ADDRESS; i++) {
      stranger("127.0.0.2").getOutputStream().write(22);
    }
    Thread.sleep(300);
    List<Socket> begun = List.copyOf(strangers);

    assertThat(stranger("127.0.0.2").getInputStream().read()).isNegative();
    for (int i = 0; i < 300; i++) {
      stranger("127.0.0." + (3 + i % 9));
    }
    for (Socket socket : begun) {
      socket.setSoTimeout(1);
      assertThat(isOpen(socket)).isTrue();
    }
    assertOpen();
  }

  private static boolean isOpen(Socket socket) {
    try {
      return socket.getInputStream().read() >= 0;
    } catch (java.net.SocketTimeoutException e) {
      return true;
    } catch (IOException e) {
      return false;
    }
  }

  @Test
  void whoSaysNothingIsSentAway() throws Exception {
    door.close();
    door = new TestDoor(CHANNEL, Duration.ofMillis(300));
    Socket silent = stranger("127.0.0.2");
    silent.getOutputStream().write(22);
    silent.setSoTimeout(10_000);
    assertThat(silent.getInputStream().readAllBytes()).hasSizeLessThan(100);
  }

  @Test
  void carriesBothDirectionsAtOnceUnchanged() throws Exception {
    var bytes = new byte[8 << 20];
    new Random(3).nextBytes(bytes);
    Socket near = door.call(CHANNEL, HOST, "target");
    Socket far = door.accepted();
    Thread there = sending(near, bytes);
    Thread back = sending(far, bytes);
    assertThat(isSame(far.getInputStream(), bytes)).isTrue();
    assertThat(isSame(near.getInputStream(), bytes)).isTrue();
    there.join();
    back.join();
  }

  private static boolean isSame(InputStream in, byte[] expected) throws IOException {
    var bytes = new byte[expected.length];
    new DataInputStream(in).readFully(bytes);
    return Arrays.equals(bytes, expected);
  }

  private static Thread sending(Socket socket, byte[] bytes) {
    return Thread.ofPlatform()
        .start(
            () -> {
              try {
                socket.getOutputStream().write(bytes);
              } catch (IOException e) {
                throw new java.io.UncheckedIOException(e);
              }
            });
  }

  @Test
  void aBrokenEndBreaksTheOther() throws Exception {
    Socket near = door.call(CHANNEL, HOST, "target");
    Socket far = door.accepted();
    // Before both ends are connected, a call that breaks is repeated.
    near.getOutputStream().write(7);
    assertThat(far.getInputStream().read()).isEqualTo(7);
    far.setSoLinger(true, 0);
    far.close();
    near.setSoTimeout(10_000);
    assertThat(isOpen(near)).isFalse();
  }
}
