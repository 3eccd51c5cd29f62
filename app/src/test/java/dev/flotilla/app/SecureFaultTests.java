package dev.flotilla.app;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.control.JobKey;
import dev.flotilla.world.ExitCodes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Jobs with {@code --secure} on three hosts that lose a rank or a cable, and on hosts that know
 * each other by IPv6. The hosts are network namespaces; needs root and {@code ip}.
 */
@Timeout(600)
class SecureFaultTests {

  /** A silent host is lost after 8 s; what waits for it has been told by then. */
  private static final Duration ENDED_WITHIN = Duration.ofSeconds(40);

  private static final String SECURE = "--secure";
  private static final String CHECKPOINTS = "--set=checkpoint={every: 20}";

  @TempDir Path folder;

  @BeforeEach
  void writeKey() throws IOException {
    KeyFile.write(folder.resolve("job.key"), JobKey.newText());
  }

  @Tag("slow")
  @Test
  void threeHostsGoOnAfterARankWasKilled() {
    try (var hosts = BridgedHosts.connect(3);
        var job = new Job(hosts, 3, "killed", hosts.address(0))) {
      job.start(SECURE, "--max-steps=120", "--max-restarts=1", CHECKPOINTS);
      job.launcher(0).awaitTraining(job.run());
      Running.signal("KILL", job.launcher(1).rank(1));

      job.awaitAll(Duration.ofMinutes(4)).forEach(it -> it.expect(0));
      assertThat(job.launcher(0).err()).contains("rank 1", "SIGKILL");
      job.assertNobodyIsLeft();
    }
  }

  @Tag("thorough")
  @Test
  void threeHostsLearnTheSameAsWithout() {
    try (var hosts = BridgedHosts.connect(3)) {
      assertThat(weights(hosts, "secure", SECURE)).isEqualTo(weights(hosts, "plain"));
    }
  }

  private String weights(BridgedHosts hosts, String name, String... more) {
    try (var job = new Job(hosts, 3, name, hosts.address(0))) {
      return job.learned(more);
    }
  }

  /** Whoever is cut off is named, all end, and the job goes on from its checkpoint. */
  @Tag("thorough")
  @ParameterizedTest
  @ValueSource(ints = {0, 2})
  void threeHostsEndWhenACableIsCutAndGoOnWhenStartedAgain(int cut) {
    try (var hosts = BridgedHosts.connect(3)) {
      try (var job = new Job(hosts, 3, "cut", hosts.address(0))) {
        job.start(SECURE, "--max-steps=9999999", "--max-restarts=1", CHECKPOINTS);
        Awaitility.await().atMost(Running.PATIENCE).until(job::hasSaved);
        hosts.cut(cut);

        for (Ended ended : job.awaitAll(ENDED_WITHIN)) {
          assertThat(ended.exitCode()).isNotZero();
          ended.explainsItself();
        }
        assertThat(job.launcher(cut == 0 ? 1 : 0).err())
            .contains("the launcher of host %d is silent".formatted(cut));
        job.assertNobodyIsLeft();
      }
      hosts.mend(cut);
      try (var again = new Job(hosts, 3, "cut", hosts.address(0))) {
        again.start(SECURE, "--max-steps=9999999", "--resume=auto");
        Awaitility.await()
            .atMost(Running.PATIENCE)
            .until(() -> again.launcher(0).out().contains("resumed after update "));
        Running.signal("TERM", again.launcher(0).process().toHandle());
        again.awaitAll(Duration.ofMinutes(1)).forEach(it -> it.expect(ExitCodes.STOPPED));
        again.assertNobodyIsLeft();
      }
    }
  }

  @Tag("thorough")
  @ParameterizedTest
  @ValueSource(strings = {SECURE, "--hang-timeout=8"})
  void hostsMayKnowEachOtherByIpv6(String option) {
    try (var hosts = BridgedHosts.connect(2);
        var job = new Job(hosts, 2, "six", hosts.address6(0))) {
      assertThat(job.learned(option)).isNotEmpty();
      job.assertNobodyIsLeft();
    }
  }

  /** Ranks of doctor listen on loopback alone as well. */
  @Tag("thorough")
  @Test
  void doctorMeasuresThroughTls() throws InterruptedException {
    try (var hosts = BridgedHosts.connect(2);
        var first = doctor(hosts, 0);
        var second = doctor(hosts, 1)) {
      while (first.process().isAlive()) {
        Thread.sleep(200);
        assertThat(first.living())
            .filteredOn(it -> !it.equals(first.process().toHandle()))
            .flatMap(TcpSocket::of)
            .noneMatch(it -> it.isListening() && !it.isLoopback());
      }
      assertThat(first.await().expect(0).out()).contains("ok       latency ", "bandwidth ");
      second.await().expect(0);
    }
  }

  private Running doctor(BridgedHosts hosts, int node) {
    return Flotilla.in(folder.resolve("doctor" + node))
        .through("ip", "netns", "exec", hosts.name(node))
        .start(
            "doctor",
            SECURE,
            "--nnodes=2",
            "--node-rank=" + node,
            "--master-addr=" + hosts.address(0),
            "--job-key-file=" + folder.resolve("job.key"));
  }

  /** One launcher on each host, with one rank. */
  private final class Job implements AutoCloseable {

    private final BridgedHosts hosts;
    private final int count;
    private final String name;
    private final String master;
    private final List<Running> launchers = new ArrayList<>();

    Job(BridgedHosts hosts, int count, String name, String master) {
      this.hosts = hosts;
      this.count = count;
      this.name = name;
      this.master = master;
    }

    void start(String... more) {
      for (int node = 0; node < count; node++) {
        var arguments =
            new ArrayList<>(
                List.of(
                    "run",
                    "--nnodes=" + count,
                    "--nproc=1",
                    "--node-rank=" + node,
                    "--master-addr=" + master,
                    "--master-port=29500",
                    "--job-key-file=" + folder.resolve("job.key"),
                    "--set=model={name: mlp, hidden: [16]}",
                    "--set=threads=1",
                    "--set=global_batch=12",
                    "--set=eval={every: end}",
                    "--set=epochs=10000",
                    "--set=schedule=constant",
                    "--log-dir=log",
                    "--out=" + run()));
        arguments.addAll(List.of(more));
        launchers.add(
            host(node)
                .through("ip", "netns", "exec", hosts.name(node))
                .start(arguments.toArray(String[]::new)));
      }
    }

    String learned(String... more) {
      var arguments = new ArrayList<>(List.of(more));
      arguments.add("--max-steps=20");
      start(arguments.toArray(String[]::new));
      awaitAll(Duration.ofMinutes(4)).forEach(it -> it.expect(0));
      return new RunFiles(run()).weights();
    }

    private Flotilla host(int node) {
      return Flotilla.in(folder.resolve(name + node));
    }

    /** All ranks see it, so that they save together. */
    Path run() {
      return folder.resolve(name + "-run");
    }

    boolean hasSaved() throws IOException {
      Path saved = run().resolve("checkpoints");
      if (!Files.exists(saved)) {
        return false;
      }
      try (var files = Files.list(saved)) {
        return files.anyMatch(it -> it.getFileName().toString().startsWith("update-"));
      }
    }

    Running launcher(int node) {
      return launchers.get(node);
    }

    List<Ended> awaitAll(Duration longest) {
      return launchers.stream().map(it -> it.await(longest)).toList();
    }

    void assertNobodyIsLeft() {
      assertThat(launchers).allMatch(it -> it.living().isEmpty());
    }

    @Override
    public void close() {
      launchers.forEach(Running::close);
    }
  }
}
