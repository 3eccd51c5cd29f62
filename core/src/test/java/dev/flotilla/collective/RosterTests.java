package dev.flotilla.collective;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.flotilla.memory.ComputeDevice;
import dev.flotilla.settings.ConfigException;
import java.net.InetAddress;
import java.util.List;
import java.util.Map;
import java.util.Set;
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
    var self = PeerInfo.here(0, InetAddress.getLoopbackAddress(), "");
    var gone =
        new PeerInfo(
            1, self.host(), ended.pid(), self.address(), self.processSpace(), "", Set.of());
    assertThat(new Roster(List.of(self, gone), 0).suspects("Timed out"))
        .isEqualTo(gone + " is gone");
  }

  @Test
  void peersTravelAsText() {
    var self = PeerInfo.here(3, InetAddress.getLoopbackAddress(), "");
    assertThat(PeerInfo.parse(self.format())).isEqualTo(self);
  }

  @Test
  void ranksWithGpusOfTheirOwnUseNccl() {
    var roster = new Roster(List.of(peer(0, "a", "x"), peer(1, "a", "y"), peer(2, "b", "z")), 0);
    assertThat(GpuBackend.AUTO.isNcclFor(roster)).isTrue();
    assertThat(GpuBackend.NCCL.isNcclFor(roster)).isTrue();
  }

  @Test
  void ranksThatShareGpuUseGloo() {
    var roster = new Roster(List.of(peer(0, "a", "x"), peer(1, "b", "y"), peer(2, "c", "x")), 1);
    assertThat(GpuBackend.AUTO.isNcclFor(roster)).isFalse();
    assertThatThrownBy(() -> GpuBackend.NCCL.isNcclFor(roster))
        .isInstanceOf(RendezvousException.class)
        .hasMessage(
            "--backend nccl needs a GPU of its own for each rank, but rank 0 on a (pid 100) and"
                + " rank 2 on c (pid 102) share x; use auto or gloo");
  }

  @Test
  void oneRankWithoutGpuIsEnoughForGloo() {
    var roster = new Roster(List.of(peer(0, "a", "x"), peer(1, "b")), 0);
    assertThat(GpuBackend.AUTO.isNcclFor(roster)).isFalse();
    assertThatThrownBy(() -> GpuBackend.NCCL.isNcclFor(roster))
        .hasMessageContaining("but rank 1 on b (pid 101) offers none");
  }

  @Test
  void ncclOnCpuIsRefusedBeforeRanksMeet() {
    assertThat(GpuBackend.AUTO.offer(ComputeDevice.CPU)).isEmpty();
    assertThat(GpuBackend.GLOO.offer(ComputeDevice.cuda(0))).isEmpty();
    assertThatThrownBy(() -> GpuBackend.NCCL.offer(ComputeDevice.CPU))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining(
            "nccl needs device: cuda on every rank, but this one computes on cpu");
  }

  @Test
  void backendIsReadFromTheEnvironment() {
    assertThat(GpuBackend.in(Map.of())).isEqualTo(GpuBackend.AUTO);
    assertThat(GpuBackend.in(Map.of("FLOTILLA_BACKEND", "nccl"))).isEqualTo(GpuBackend.NCCL);
    assertThatThrownBy(() -> GpuBackend.in(Map.of("FLOTILLA_BACKEND", "mpi")))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining("must be auto, gloo or nccl, but was 'mpi'");
  }

  private static PeerInfo peer(int rank, String host) {
    return peer(rank, host, "");
  }

  private static PeerInfo peer(int rank, String host, String gpu) {
    return new PeerInfo(
        rank, host, 100 + rank, "10.0.0." + rank, "space of " + host, gpu, Set.of());
  }
}
