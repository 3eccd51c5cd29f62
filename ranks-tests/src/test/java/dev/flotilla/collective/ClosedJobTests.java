package dev.flotilla.collective;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.control.JobKey;
import dev.flotilla.launch.RankCommand;
import dev.flotilla.testkit.FreePorts;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a job leaves open to others. */
@Timeout(120)
class ClosedJobTests {

  @TempDir Path folder;

  /** Two launchers take this host for two; no store listens, and no port is left open. */
  @Tag("slow")
  @ParameterizedTest
  @ValueSource(ints = {1, 2})
  void ranksMeetThroughTheirLaunchersAndListenNowhereAfterwards(int nodes) throws Exception {
    Path key = Files.writeString(folder.resolve("key"), JobKey.newText());
    Files.setPosixFilePermissions(key, PosixFilePermissions.fromString("rw-------"));
    String port = Integer.toString(FreePorts.next());
    var hosts = new ArrayList<Process>();
    try {
      for (int node = 0; node < nodes; node++) {
        hosts.add(start(nodes, node, port));
      }
      for (int node = 0; node < nodes; node++) {
        assertThat(hosts.get(node).waitFor(100, TimeUnit.SECONDS)).isTrue();
        String out = Files.readString(folder.resolve("out" + node));
        assertThat(hosts.get(node).exitValue()).as(out).isZero();
        String log = Files.readString(folder.resolve("log" + node).resolve("workerlog.0"));
        assertThat(log)
            .contains("sum 2.0", "rank 0 was here", "rank 1 was here", "closed")
            .contains("listens on []");
        assertThat(out + log).doesNotContain(Files.readString(key));
      }
    } finally {
      hosts.forEach(Process::destroyForcibly);
    }
  }

  private Process start(int nodes, int node, String port) throws IOException {
    return new ProcessBuilder(
            RankCommand.currentJava().toString(),
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            "--enable-native-access=ALL-UNNAMED",
            "-cp",
            System.getProperty("java.class.path"),
            HostProgram.class.getName(),
            Integer.toString(nodes),
            Integer.toString(node),
            port,
            folder.toString())
        .redirectErrorStream(true)
        .redirectOutput(folder.resolve("out" + node).toFile())
        .start();
  }

  @Test
  void aConnectionIsProvedByTheKeyAlone() throws Exception {
    JobKey key = JobKey.of("k".repeat(64));
    assertThat(problems(List.of(key, key))).containsExactly("", "");
    assertThat(problems(List.of(key, JobKey.of("x".repeat(64)))))
        .containsExactly(
            "what is connected as rank 1 does not know the job's key",
            "what is connected as rank 0 does not know the job's key");
  }

  /** Each rank has a key of its own. */
  private List<String> problems(List<JobKey> keys) throws Exception {
    return NativeGroups.onEachRank(
        folder.resolve("store" + keys.hashCode()),
        keys.size(),
        (group, rank) ->
            PairProof.problem(group, "test", rank, keys.get(rank), Duration.ofSeconds(5)));
  }
}
