package dev.flotilla.collective;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.flotilla.world.Rendezvous;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(20)
class MasterAddressTests {

  @Test
  void refusesUnknownHostAtOnce() {
    assertThatThrownBy(() -> master("no-such-host.invalid", 29500))
        .isInstanceOf(RendezvousException.class)
        .hasMessageContaining("no-such-host.invalid")
        .hasMessageContaining("MASTER_ADDR");
  }

  @Test
  void saysWhoCouldNotReachWhatForHowLong() throws IOException {
    int port = freePort();
    assertThatThrownBy(() -> master("127.0.0.1", port).awaitListener(3, Duration.ofMillis(500)))
        .isInstanceOf(RendezvousException.class)
        .hasMessageContaining("rank 3")
        .hasMessageContaining("127.0.0.1:" + port)
        .hasMessageContaining("within 0.5 s")
        .hasMessageContaining("MASTER_PORT")
        .hasMessageContaining("firewall")
        .hasMessageContaining("GLOO_SOCKET_IFNAME");
  }

  @Test
  void strangerAtTheAddressIsNotTheStore() throws IOException {
    try (var server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
      Thread.ofPlatform().daemon().start(() -> answerLikeWebServer(server));
      assertThatThrownBy(
              () ->
                  master("127.0.0.1", server.getLocalPort())
                      .awaitListener(1, Duration.ofMillis(500)))
          .isInstanceOf(RendezvousException.class)
          .hasMessageContaining("within 0.5 s (something else answers there)");
    }
  }

  private static void answerLikeWebServer(ServerSocket server) {
    try {
      while (true) {
        try (var client = server.accept()) {
          client.getOutputStream().write("HTTP/1.1 400 Bad Request".getBytes(US_ASCII));
        }
      }
    } catch (IOException e) {
      // The test is over.
    }
  }

  @Test
  void knowsNamesThatMeanOnlyThisHost() {
    assertThat(master("localhost", 1).isLocalNickname(false)).isFalse();
    assertThat(master("127.0.1.1", 1).isLocalNickname(false)).isFalse();
    assertThat(master("::1", 1).isLocalNickname(false)).isFalse();
    assertThat(master("192.0.2.1", 1).isLocalNickname(false)).isFalse();
    assertThat(master("LOCALHOST", 1).isLocalNickname(false)).isTrue();
    assertThat(master("LOCALHOST", 1).isLocalNickname(true)).isFalse();
  }

  @Test
  void saysThatPortIsInUse() throws IOException {
    try (var server = new ServerSocket(0, 5, InetAddress.getLoopbackAddress())) {
      assertThatThrownBy(() -> master("127.0.0.1", server.getLocalPort()).listen(true))
          .isInstanceOf(RendezvousException.class)
          .hasMessageContaining("port " + server.getLocalPort() + " on 127.0.0.1 is in use (")
          .hasMessageContaining("--master-port");
    }
  }

  @Test
  void listensForOneAddressOnly() throws Exception {
    int port = freePort();
    int descriptor = master("127.0.0.1", port).listen(true);
    try (var client = new Socket()) {
      client.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 1000);
      assertThat(client.isConnected()).isTrue();
      assertThat(SocketTable.listeners(port)).containsExactly("0100007F");
    } finally {
      CFunction.find("close", JAVA_INT).call(descriptor);
    }
  }

  @Test
  void listensOnAddressesOfTheLongKindToo() throws IOException {
    var master = master("::1", 0);
    assumeTrue(NetworkInterface.getByInetAddress(master.address()) != null);
    int descriptor = master.listen(true);
    assertThat(descriptor).isPositive();
    CFunction.find("close", JAVA_INT).call(descriptor);
  }

  @Test
  void findsAddressThatRoutesToTheMaster() {
    assertThat(LocalAddress.towards(master("127.0.0.1", 9)).isLoopbackAddress()).isTrue();
  }

  @Test
  void namesNetworkInterfacesWhenOneIsUnknown() {
    assertThat(LocalAddress.ofInterface("lo").isLoopbackAddress()).isTrue();
    assertThatThrownBy(() -> LocalAddress.ofInterface("eth77"))
        .isInstanceOf(RendezvousException.class)
        .hasMessageContaining("eth77")
        .hasMessageContaining("lo");
  }

  private static MasterAddress master(String host, int port) {
    return MasterAddress.resolve(new Rendezvous.Tcp(host, port, false));
  }

  private static int freePort() throws IOException {
    try (var server = new ServerSocket(0, 5, InetAddress.getLoopbackAddress())) {
      return server.getLocalPort();
    }
  }
}
