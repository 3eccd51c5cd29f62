package dev.flotilla.collective;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Timeout(30)
class GlooListenerTests {

  private static final InetAddress LOOPBACK = InetAddress.ofLiteral("127.0.0.1");

  private static ServerSocket at(InetAddress address) {
    try {
      return new ServerSocket(0, 50, address);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void closesItsPortThoughTheProgramOpensOthers() throws Exception {
    var listener = new GlooListener(LOOPBACK);
    try (var before = at(LOOPBACK);
        var elsewhere = at(InetAddress.ofLiteral("127.0.0.2"));
        var own = listener.begins(() -> at(LOOPBACK));
        var everywhere = listener.begins(() -> at(InetAddress.ofLiteral("0.0.0.0")));
        var after = at(LOOPBACK)) {
      assertThat(listener.port()).isEqualTo(own.getLocalPort());
      listener.close();
      for (var other : List.of(before, elsewhere, everywhere, after)) {
        new Socket(other.getInetAddress(), other.getLocalPort()).close();
      }
      assertThatThrownBy(() -> new Socket(LOOPBACK, own.getLocalPort()).close())
          .isInstanceOf(ConnectException.class);
    }
  }

  @Test
  void refusesToGuessWhichPortIsIts() throws Exception {
    var listener = new GlooListener(LOOPBACK);
    try (var one = listener.begins(() -> at(LOOPBACK));
        var other = listener.begins(() -> at(LOOPBACK))) {
      assertThatThrownBy(listener::close)
          .isInstanceOf(RendezvousException.class)
          .hasMessageContaining("at 127.0.0.1 is not found: 2 ports were opened there at once");
      for (var port : List.of(one, other)) {
        new Socket(LOOPBACK, port.getLocalPort()).close();
      }
    }
  }

  @ParameterizedTest
  @CsvSource({"127.0.0.1, 127.0.0.9", "::1, 2001:db8::9"})
  void hearsMembersAlone(String own, String other) throws Exception {
    var local = InetAddress.ofLiteral(own);
    var elsewhere = InetAddress.ofLiteral(other);
    var listener = new GlooListener(local);
    try (var port = listener.begins(() -> at(local));
        var stranger = new Socket();
        var member = new Socket()) {
      listener.hearOnly(Set.of(elsewhere));
      assertThatThrownBy(() -> stranger.connect(port.getLocalSocketAddress(), 300))
          .isInstanceOf(SocketTimeoutException.class);

      listener.hearOnly(Set.of(elsewhere, local));
      member.connect(port.getLocalSocketAddress(), 10_000);
      assertThat(member.isConnected()).isTrue();
    }
  }

  @Test
  void namesWhoIsConnectedAndNoMember() throws Exception {
    var self = PeerInfo.here(0, InetAddress.getLoopbackAddress(), "");
    var roster = new Roster(List.of(self), 0);
    var listener = new GlooListener(LOOPBACK);
    try (var port = listener.begins(() -> at(LOOPBACK));
        var member = new Socket();
        var stranger = new Socket()) {
      member.bind(new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), 0));
      member.connect(port.getLocalSocketAddress());
      assertThat(listener.strangers(roster)).isEmpty();

      stranger.bind(new InetSocketAddress(InetAddress.ofLiteral("127.0.0.9"), 0));
      stranger.connect(port.getLocalSocketAddress());
      assertThat(listener.strangers(roster)).containsExactly("127.0.0.9");
    }
  }
}
