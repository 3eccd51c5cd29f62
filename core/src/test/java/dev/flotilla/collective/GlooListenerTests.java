package dev.flotilla.collective;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

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

  @ParameterizedTest
  @CsvSource({"127.0.0.1, 127.0.0.9", "::1, 2001:db8::9"})
  void hearsMembersAlone(String own, String other) throws Exception {
    var local = InetAddress.ofLiteral(own);
    var elsewhere = InetAddress.ofLiteral(other);
    var listener = GlooListener.beforeForming();
    try (var port = new ServerSocket(0, 50, local);
        var stranger = new Socket();
        var member = new Socket()) {
      listener.hearOnly(Set.of(elsewhere), local);
      assertThatThrownBy(() -> stranger.connect(port.getLocalSocketAddress(), 300))
          .isInstanceOf(SocketTimeoutException.class);

      listener.hearOnly(Set.of(elsewhere, local), local);
      member.connect(port.getLocalSocketAddress(), 10_000);
      assertThat(member.isConnected()).isTrue();
    }
  }

  @Test
  void namesWhoIsConnectedAndNoMember() throws Exception {
    var self = PeerInfo.here(0, InetAddress.getLoopbackAddress(), "");
    var roster = new Roster(List.of(self), 0);
    var listener = GlooListener.beforeForming();
    try (var port = new ServerSocket(0, 50, InetAddress.ofLiteral("127.0.0.1"));
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
