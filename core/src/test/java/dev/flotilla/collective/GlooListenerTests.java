package dev.flotilla.collective;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class GlooListenerTests {

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
