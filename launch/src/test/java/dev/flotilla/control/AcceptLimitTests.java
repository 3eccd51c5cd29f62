package dev.flotilla.control;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** J3: a flood makes little work, and members get through. */
class AcceptLimitTests {

  private static final InetAddress STRANGER = InetAddress.ofLiteral("127.0.0.2");
  private static final InetAddress MEMBER = InetAddress.ofLiteral("127.0.0.3");

  private final AtomicBoolean isExpecting = new AtomicBoolean(true);
  private final AtomicLong now = new AtomicLong();
  private final AcceptLimit limit = new AcceptLimit(isExpecting::get, now::get);

  /** Returns how many of 5,000 a second are heard in so many seconds. */
  private int heard(int seconds, InetAddress... from) {
    int heard = 0;
    for (int i = 0; i < seconds * 5000; i++) {
      now.addAndGet(200_000);
      heard += limit.admits(from[i % from.length]) ? 1 : 0;
    }
    return heard;
  }

  @Test
  void oneAddressIsHeardAHundredTimesASecondWhileMembersAreExpected() {
    assertThat(heard(10, STRANGER)).isBetween(1000, 1000 + 32);
    assertThat(limit.admits(MEMBER)).isTrue();
  }

  @Test
  void onceASecondOnceAllAreConnected() {
    isExpecting.set(false);
    assertThat(heard(10, STRANGER)).isBetween(10, 10 + 4);
    assertThat(limit.admits(MEMBER)).isTrue();
  }

  @Test
  void allAddressesTogetherAreLimitedToo() {
    var many = new InetAddress[2000];
    for (int i = 0; i < many.length; i++) {
      many[i] = InetAddress.ofLiteral("127.1.%d.%d".formatted(i / 250, i % 250));
    }
    assertThat(heard(10, many)).isBetween(4000, 4000 + 128);
    isExpecting.set(false);
    assertThat(heard(10, many)).isBetween(40, 40 + 16);
  }

  @Test
  void whoHasProvedToBeAMemberIsAlwaysHeard() {
    isExpecting.set(false);
    limit.trust(MEMBER);
    heard(1, STRANGER);
    assertThat(heard(1, MEMBER)).isEqualTo(5000);
  }

  /** The rest waits in the kernel, or is dropped by it. */
  @Test
  void onceAllAreConnectedFewAreAcceptedBeforeAPause() throws Exception {
    isExpecting.set(false);
    List<SocketChannel> opened = new ArrayList<>();
    List<SocketChannel> accepted = new ArrayList<>();
    try (var server = ServerSocketChannel.open()) {
      server.bind(new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), 0));
      server.configureBlocking(false);
      assertThat(limit.accept(server, accepted::add)).isZero();
      for (int i = 0; i < 40; i++) {
        opened.add(SocketChannel.open(server.getLocalAddress()));
      }

      assertThat(limit.accept(server, accepted::add)).isEqualTo(Duration.ofMillis(100));
      assertThat(accepted).hasSize(4);
      isExpecting.set(true);
      now.addAndGet(1_000_000_000);
      assertThat(limit.accept(server, accepted::add)).isEqualTo(Duration.ofMillis(20));
      assertThat(accepted).hasSize(4 + 30);
    } finally {
      for (var channel : opened) {
        channel.close();
      }
      for (var channel : accepted) {
        channel.close();
      }
    }
  }
}
