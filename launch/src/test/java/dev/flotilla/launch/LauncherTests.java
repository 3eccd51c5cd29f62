package dev.flotilla.launch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.flotilla.world.ExitCodes;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LauncherTests {

  @TempDir Path folder;
  private Launch launch;

  @BeforeEach
  void prepare() {
    launch = new Launch(folder);
  }

  @Test
  void endsWellWhenAllRanksDo() throws IOException {
    LaunchResult result = launch.run(3, "*:print:hello", "2:sleep:300", "*:input");

    assertThat(result).isEqualTo(LaunchResult.completed());
    assertThat(launch.out()).contains("hello\n").contains("input -1\n");
    assertThat(launch.err()).isEmpty();
    for (int local = 0; local < 3; local++) {
      assertThat(launch.log(local)).hasContent("hello\ninput -1\n");
    }
    assertThat(Files.readAllLines(launch.logs().resolve("endpoints.log")))
        .containsExactly(
            "# host:rank of the ranks of job none",
            HostName.local() + ":0",
            HostName.local() + ":1",
            HostName.local() + ":2");
    assertThat(temporaryFolders()).isEmpty();
  }

  @Test
  void tellsRanksTheirPlaceOnOneHost() throws IOException {
    launch.without("OMP_NUM_THREADS").without("MALLOC_ARENA_MAX").without("GLIBC_TUNABLES");
    launch.run(
        2,
        "*:place",
        "*:env:MASTER_ADDR",
        "*:env:OMP_NUM_THREADS",
        "*:env:MALLOC_ARENA_MAX",
        "*:env:GLIBC_TUNABLES",
        "*:env:FLOTILLA_TERMINAL");

    assertThat(Files.readString(launch.log(1)))
        .contains("rank=1, size=2, localRank=1, localSize=2, nodeRank=0, nodes=1")
        .contains("SharedFile[file=" + folder.resolve("flotilla-launch-"))
        .contains("MASTER_ADDR=127.0.0.1")
        .contains("OMP_NUM_THREADS=2")
        .contains("MALLOC_ARENA_MAX=1")
        .contains("GLIBC_TUNABLES=glibc.malloc.tcache_count=0:glibc.malloc.mxfast=0")
        .contains("FLOTILLA_TERMINAL=null");
  }

  @Test
  void tellsRanksWhatCarriesTensorsBetweenGpus() throws IOException {
    var settings =
        new LaunchFlags(Map.of(), 2, Set::of, List.of())
            .parse(List.of("--nproc", "1", "--backend", "gloo"))
            .settings();

    launch.run(settings.withLogDir(launch.logs()), "*:env:FLOTILLA_BACKEND");

    assertThat(Files.readString(launch.log(0))).contains("FLOTILLA_BACKEND=gloo");
  }

  @Test
  void tellsRanksTheirPlaceOnTheSecondOfTwoHosts() throws IOException {
    var settings =
        new LaunchSettings(
            2,
            2,
            1,
            Optional.of("10.1.2.3"),
            OptionalInt.of(4567),
            List.of("10.1.2.3", "10.1.2.4"),
            "job7",
            "default",
            launch.logs(),
            Duration.ofSeconds(5),
            new FailurePolicy(
                0, Duration.ofSeconds(30), Duration.ofSeconds(8), Optional.empty(), true, false));
    launch
        .with("FLOTILLA_RENDEZVOUS_FILE", "/stale")
        .with("OMP_NUM_THREADS", "7")
        .with("MALLOC_ARENA_MAX", "3")
        .with("GLIBC_TUNABLES", "glibc.malloc.check=0");

    launch.run(
        settings,
        "*:place",
        "*:env:PADDLE_CURRENT_ENDPOINT",
        "*:env:OMP_NUM_THREADS",
        "*:env:MALLOC_ARENA_MAX",
        "*:env:GLIBC_TUNABLES");

    assertThat(Files.readString(launch.log(1)))
        .contains("rank=3, size=4, localRank=1, localSize=2, nodeRank=1, nodes=2")
        .contains("Tcp[host=10.1.2.3, port=4567, hostedElsewhere=false]")
        .contains("PADDLE_CURRENT_ENDPOINT=10.1.2.4:6071")
        .contains("OMP_NUM_THREADS=7")
        .contains("MALLOC_ARENA_MAX=3")
        .contains("GLIBC_TUNABLES=glibc.malloc.check=0");
    assertThat(Files.readAllLines(launch.logs().resolve("endpoints.log")))
        .contains("10.1.2.3:1", "10.1.2.4:2");
    assertThat(launch.err()).contains("flotilla: warning: INSECURE: the 2 hosts have no key");
  }

  @Test
  void printsTheFirstRanksOutputAloneIfTablesAreNotWanted() {
    launch.withoutTables().run(1, "*:print:hello");

    assertThat(launch.out()).isEqualTo("hello\n");
  }

  @Test
  void printsConfigurationAndFirstRanksEnvironmentBeforeItsOutput() {
    launch.with("SECRET_TOKEN", "hunter2").run(1, "*:print:hello");

    assertThat(launch.out())
        .startsWith("-----------  Configuration Arguments -----------\ngrace_period: 5.0 s\n")
        .contains("\nnproc_per_node: 1\n")
        .contains("\ntraining_script_args: [*:print:hello]\n" + "-".repeat(48) + "\n")
        .contains("Local start 1 processes. First process distributed environment info (Only For")
        .containsPattern(" {36}RANK  +0 +\\|")
        .endsWith("hello\n")
        .doesNotContain("hunter2");
  }

  @Test
  void drawsFramesOnATerminalAndKeepsTheLastInTheLog() {
    launch
        .terminal(99)
        .run(2, "0:env:FLOTILLA_TERMINAL", "1:env:FLOTILLA_TERMINAL", "0:raw:\\r1 %\\r2 %\\ndone");

    assertThat(launch.out()).contains("\r1 %\r2 %\n");
    assertThat(launch.log(0)).hasContent("FLOTILLA_TERMINAL=99\n2 %\ndone\n");
    assertThat(launch.log(1)).hasContent("FLOTILLA_TERMINAL=null\n");
  }

  @Test
  void keepsLogsForTheirOwnerAndTruncatesThem() throws IOException {
    launch.run(1, "*:print:a long first line");
    launch.run(1, "*:complain:second");

    assertThat(launch.log(0)).hasContent("second\n");
    assertThat(modeOf(launch.logs())).isEqualTo("rwx------");
    assertThat(modeOf(launch.log(0))).isEqualTo("rw-------");
    assertThat(modeOf(launch.logs().resolve("endpoints.log"))).isEqualTo("rw-------");
  }

  @Test
  void runsTheHookBeforeAnyRank() {
    Path marker = folder.resolve("marker");

    LaunchResult result =
        launch
            .launcher()
            .run(
                launch.settings(1),
                Launch.command("*:touch:" + marker),
                () -> assertThat(marker).doesNotExist());

    assertThat(result.exitCode()).isZero();
    assertThat(marker).exists();
  }

  @Test
  void startsNothingWhenTheHookFails() {
    Path marker = folder.resolve("marker");

    assertThatThrownBy(
            () ->
                launch
                    .launcher()
                    .run(
                        launch.settings(1),
                        Launch.command("*:touch:" + marker),
                        () -> {
                          throw new IllegalStateException("no room");
                        }))
        .hasMessage("no room");
    assertThat(marker).doesNotExist();
  }

  @Test
  void refusesAPortThatIsTaken() throws IOException {
    try (var taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      var settings =
          new LaunchSettings(
              1,
              1,
              0,
              Optional.empty(),
              OptionalInt.of(taken.getLocalPort()),
              List.of(),
              "none",
              "default",
              launch.logs(),
              Duration.ofSeconds(5),
              FailurePolicy.defaults());

      assertThatThrownBy(() -> launch.run(settings, "*:exit:0"))
          .isInstanceOfSatisfying(
              LaunchException.class,
              e -> assertThat(e.exitCode()).isEqualTo(ExitCodes.RENDEZVOUS_FAILED))
          .hasMessageContaining("port %d".formatted(taken.getLocalPort()))
          .hasMessageContaining("--master-port");
    }
    assertThat(temporaryFolders()).isEmpty();
  }

  @Test
  void refusesALogFolderThatIsAFile() throws IOException {
    Files.createFile(launch.logs());

    assertThatThrownBy(() -> launch.run(1, "*:exit:0"))
        .isInstanceOf(LaunchException.class)
        .hasMessageContaining("log folder");
    assertThat(temporaryFolders()).isEmpty();
  }

  @Test
  void saysWhenJavaCannotBeStarted() {
    var command =
        new RankCommand(folder.resolve("no-java"), List.of(), Launch.classPath(), "X", List.of());

    assertThatThrownBy(() -> launch.launcher().run(launch.settings(2), command, () -> {}))
        .isInstanceOf(LaunchException.class)
        .hasMessageContaining("no-java");
    assertThat(temporaryFolders()).isEmpty();
  }

  private List<Path> temporaryFolders() {
    try (Stream<Path> files = Files.list(folder)) {
      return files.filter(file -> file.getFileName().toString().startsWith("flotilla-")).toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String modeOf(Path file) throws IOException {
    return PosixFilePermissions.toString(Files.getPosixFilePermissions(file));
  }
}
