package dev.flotilla.collective;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.util.List;
import org.junit.jupiter.api.Test;

class RosterTests {

  @Test
  void namesTheOnlyRankAtAnAddress() {
    var roster = new Roster(List.of(peer(0, "a"), peer(1, "b"), peer(2, "c")), 0);
    assertThat(roster.suspects("Connection reset by peer [10.0.0.2]:555"))
        .isEqualTo("it concerns rank 2 on c (pid 102)");
  }

  @Test
  void namesAllCandidatesWithoutAnAddress() {
    var roster = new Roster(List.of(peer(0, "a"), peer(1, "b"), peer(2, "c")), 0);
    assertThat(roster.suspects("Timed out"))
        .isEqualTo("it concerns one of rank 1 on b (pid 101), rank 2 on c (pid 102)");
  }

  @Test
  void namesProcessOfThisHostThatIsGone() throws Exception {
    var ended = new ProcessBuilder("true").start();
    ended.waitFor();
    var self = PeerInfo.here(0, InetAddress.getLoopbackAddress());
    var gone = new PeerInfo(1, self.host(), ended.pid(), self.address(), self.processSpace());
    assertThat(new Roster(List.of(self, gone), 0).suspects("Timed out"))
        .isEqualTo(gone + " is gone");
  }

  @Test
  void peersTravelAsText() {
    var self = PeerInfo.here(3, InetAddress.getLoopbackAddress());
    assertThat(PeerInfo.parse(self.format())).isEqualTo(self);
  }

  private static PeerInfo peer(int rank, String host) {
    return new PeerInfo(rank, host, 100 + rank, "10.0.0." + rank, "space of " + host);
  }
}
