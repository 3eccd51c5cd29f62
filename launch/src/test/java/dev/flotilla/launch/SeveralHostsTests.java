package dev.flotilla.launch;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.control.FlakyLink;
import dev.flotilla.control.JobKey;
import dev.flotilla.control.PrivateFiles;
import dev.flotilla.world.ExitCodes;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Two launchers that take this host for two. */
@Tag("slow")
@Timeout(60)
class SeveralHostsTests {

  @TempDir Path folder;
  private final List<LauncherProcess> hosts = new ArrayList<>();
  private int port;

  @BeforeEach
  void choosePort() throws IOException {
    port = HostLaunchers.freePort();
  }

  @AfterEach
  void endAll() {
    hosts.forEach(LauncherProcess::close);
  }

  private LauncherProcess start(int node, String key, int restarts, String... steps)
      throws IOException {
    Path own = folder.resolve("host" + node);
    PrivateFiles.createFolders(own);
    Path keyFile = own.resolve("key");
    try (OutputStream out = PrivateFiles.newFile(keyFile)) {
      out.write(key.getBytes(StandardCharsets.UTF_8));
    }
    var properties =
        List.of(
            "test.port=" + port,
            "test.node=" + node,
            "test.key=" + keyFile,
            "test.restarts=" + restarts);
    LauncherProcess host = LauncherProcess.start(properties, own, 2, steps);
    hosts.add(host);
    return host;
  }

  private void startBoth(int restarts, String... steps) throws IOException {
    String key = JobKey.newText();
    start(0, key, restarts, steps);
    start(1, key, restarts, steps);
  }

  private void awaitRanks() throws IOException {
    for (LauncherProcess host : hosts) {
      host.awaitRanks(2);
    }
  }

  @Execution(ExecutionMode.CONCURRENT)
  @Test
  void everyHostNamesTheRankThatFailedOnAnother() throws Exception {
    startBoth(0, "*:link", "3:begin:9/8", "3:sleep:2000", "3:throw:bad weather", "*:sleep:30000");

    for (LauncherProcess host : hosts) {
      assertThat(host.await(20)).as(host.out()).isEqualTo(1);
      assertThat(host.out())
          .contains("flotilla: rank 3 failed, all ranks of this host are stopped")
          .contains("cause    java.lang.IllegalStateException: bad weather")
          .contains("at       update 8, micro-step 9");
    }
    for (int local = 0; local < 2; local++) {
      assertThat(hosts.getFirst().logOf(local))
          .contains("flotilla: rank 3 on " + HostName.local())
          .contains("failed at update 8, micro-step 9: java.lang.IllegalStateException: bad");
    }
  }

  @Execution(ExecutionMode.CONCURRENT)
  @Test
  void allRanksOfAllHostsStopAfterTheSameMicroStep() throws Exception {
    startBoth(0, "*:link", "*:train:100000/20");
    awaitRanks();
    Thread.sleep(2000);

    LauncherProcess.signal("TERM", hosts.get(1).process().pid());

    var saved = new ArrayList<String>();
    for (LauncherProcess host : hosts) {
      assertThat(host.await(20)).as(host.out()).isEqualTo(ExitCodes.STOPPED);
      saved.add(host.logOf(0));
      saved.add(host.logOf(1));
    }
    assertThat(saved).allMatch(log -> log.startsWith("saved after ")).containsOnly(saved.get(0));
  }

  @Execution(ExecutionMode.CONCURRENT)
  @Test
  void aSilentHostIsNamed() throws Exception {
    startBoth(0, "*:link", "*:sleep:40000");
    awaitRanks();
    Thread.sleep(1500);

    LauncherProcess.signal("STOP", hosts.get(1).process().pid());

    assertThat(hosts.getFirst().await(20)).as(hosts.getFirst().out()).isEqualTo(ExitCodes.HANG);
    assertThat(hosts.getFirst().out())
        .contains("the launcher of host 1 is silent for 5 s")
        .contains("cause    host 1: silent for 8 s")
        .contains("ranks 2,3 were last seen before the first micro-step, silent for 8 s");
  }

  /** Ranks that meet nobody for long, as in many local steps, notice nothing by themselves. */
  @Execution(ExecutionMode.CONCURRENT)
  @ParameterizedTest
  @ValueSource(ints = {0, 1})
  void aLauncherThatDiesIsNamedWhileNoRankWaitsForItsRanks(int killed) throws Exception {
    startBoth(0, "*:link", "*:begin:9/8", "*:print:ready", "*:sleep:40000");
    awaitRanks();
    hosts.forEach(host -> host.awaitLog(1, "ready"));
    Thread.sleep(1500);

    hosts.get(killed).process().destroyForcibly();

    LauncherProcess left = hosts.get(1 - killed);
    assertThat(left.await(20)).as(left.out()).isEqualTo(ExitCodes.HANG);
    assertThat(left.out())
        .contains("the connection to the launcher of host %d is lost".formatted(killed))
        .contains("ended    the launcher of host %d is gone".formatted(killed))
        .contains("cause    host %d: its launcher has died, or the link to it".formatted(killed))
        .contains("at       update 8, micro-step 9");
    assertThat(left.logOf(0)).contains("failed at update 8, micro-step 9: host " + killed);
  }

  @Execution(ExecutionMode.CONCURRENT)
  @Test
  void aLauncherThatDiesIsNamedAlsoWhereRanksFailBecauseOfIt() throws Exception {
    Path marker = folder.resolve("killed");
    startBoth(0, "*:link", "0:await:" + marker, "0:peer:connection reset", "*:sleep:40000");
    awaitRanks();
    Thread.sleep(1500);

    hosts.get(1).process().destroyForcibly().waitFor();
    Files.createFile(marker);

    assertThat(hosts.getFirst().await(20)).isEqualTo(ExitCodes.HANG);
    assertThat(hosts.getFirst().out()).contains("ended    the launcher of host 1 is gone");
  }

  @Execution(ExecutionMode.CONCURRENT)
  @Test
  void aLostConnectionIsDialledAgain() throws Exception {
    try (var link = FlakyLink.to(port + 1)) {
      String key = JobKey.newText();
      start(0, key, 0, "*:link", "*:train:100000/20");
      port = link.port() - 1;
      start(1, key, 0, "*:link", "*:train:100000/20");
      awaitRanks();
      Awaitility.await().until(link::isUsed);
      Thread.sleep(1000);

      link.cut();

      for (LauncherProcess host : hosts) {
        Awaitility.await().until(() -> host.out().contains("is connected again"));
      }
      LauncherProcess.signal("TERM", hosts.get(1).process().pid());
      for (LauncherProcess host : hosts) {
        assertThat(host.await(20)).as(host.out()).isEqualTo(ExitCodes.STOPPED);
      }
    }
  }

  @Execution(ExecutionMode.CONCURRENT)
  @Test
  void allHostsStartAgainTogether() throws Exception {
    Path failed = folder.resolve("failed");
    startBoth(
        2,
        "*:link",
        "*:env:FLOTILLA_RESTART",
        "2:once:" + failed,
        "*:await:" + failed,
        "*:sleep:1500");

    for (LauncherProcess host : hosts) {
      assertThat(host.await(30)).as(host.out()).isZero();
      assertThat(host.out()).contains("rank 2 failed", "restart 1 of 2 in 1 s");
      assertThat(host.logOf(1)).contains("FLOTILLA_RESTART=0", "FLOTILLA_RESTART=1");
    }
  }

  @Execution(ExecutionMode.CONCURRENT)
  @Test
  void aHostWithAnotherKeyIsRefused() throws Exception {
    LauncherProcess first = start(0, JobKey.newText(), 0, "*:sleep:5000");
    LauncherProcess other = start(1, JobKey.newText(), 0, "*:sleep:40000");

    assertThat(other.await(20)).as(other.out()).isEqualTo(ExitCodes.RENDEZVOUS_FAILED);
    assertThat(other.out())
        .contains("the first host's launcher refuses this one: wrong job key; give all hosts the");
    Awaitility.await()
        .untilAsserted(
            () ->
                assertThat(first.out())
                    .contains("who has not proved to know the job's key was turned away"));
  }
}
