package dev.flotilla.app.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.app.doctor.HostFacts.Job;
import dev.flotilla.app.doctor.HostFacts.Name;
import dev.flotilla.app.doctor.HostFacts.Network;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class NetworkChecksTests {

  private static final Job ALONE = new Job(2, 1, 0, Optional.empty(), 29500);
  private static final Job FIRST = new Job(2, 2, 0, Optional.of("a"), 29500);
  private static final Job SECOND = new Job(2, 2, 1, Optional.of("a"), 29500);
  private static final Network LOOPBACK = new Network("lo", true, List.of("127.0.0.1"), 0);
  private static final Network WIRE = new Network("eth0", false, List.of("10.0.0.5"), 1000);
  private static final List<Network> BOTH = List.of(LOOPBACK, WIRE);

  private static Level names(String resolved, Job job) {
    var all = resolved.isEmpty() ? List.<String>of() : List.of(resolved);
    return NetworkChecks.names(new Name("host", all), BOTH, job).level();
  }

  @Test
  void severalHostsNeedAWayOut() {
    assertThat(NetworkChecks.interfaces(BOTH, FIRST).seen())
        .isEqualTo("lo 127.0.0.1, eth0 10.0.0.5 (1000 Mbit/s)");
    assertThat(NetworkChecks.interfaces(List.of(LOOPBACK), ALONE).level()).isEqualTo(Level.OK);
    assertThat(NetworkChecks.interfaces(List.of(LOOPBACK), FIRST).level()).isEqualTo(Level.ERROR);
  }

  @Test
  void aNameThatLeadsToTheLoopbackInterfaceIsWarnedOfWithSeveralHosts() {
    assertThat(names("127.0.1.1", ALONE)).isEqualTo(Level.OK);
    assertThat(names("127.0.1.1", FIRST)).isEqualTo(Level.WARNING);
    assertThat(names("10.0.0.9", FIRST)).isEqualTo(Level.WARNING);
    assertThat(names("", FIRST)).isEqualTo(Level.WARNING);
    assertThat(names("10.0.0.5", FIRST)).isEqualTo(Level.OK);
  }

  @Test
  void theMasterMustBeHostZerosOwnAddress() {
    assertThat(NetworkChecks.master(ALONE, List.of(), BOTH).level()).isEqualTo(Level.OK);
    assertThat(NetworkChecks.master(FIRST, List.of("10.0.0.5"), BOTH).level()).isEqualTo(Level.OK);
    var elsewhere = NetworkChecks.master(FIRST, List.of("10.0.0.6"), BOTH);
    assertThat(elsewhere.level()).isEqualTo(Level.ERROR);
    assertThat(elsewhere.fix()).endsWith("10.0.0.5");
    assertThat(NetworkChecks.master(SECOND, List.of("10.0.0.6"), BOTH).level()).isEqualTo(Level.OK);
    assertThat(NetworkChecks.master(SECOND, List.of(), BOTH).level()).isEqualTo(Level.ERROR);
    assertThat(NetworkChecks.master(SECOND, List.of("127.0.1.1"), BOTH).level())
        .isEqualTo(Level.ERROR);
  }

  @Test
  void aTakenPortIsAnErrorOnTheHostThatListens() {
    assertThat(NetworkChecks.ports(FIRST, Optional.of(29501)).level()).isEqualTo(Level.ERROR);
    assertThat(NetworkChecks.ports(FIRST, Optional.empty()).seen())
        .isEqualTo("29500 and 29501 are free");
    assertThat(NetworkChecks.ports(SECOND, Optional.of(29500)).level()).isEqualTo(Level.OK);
  }
}
