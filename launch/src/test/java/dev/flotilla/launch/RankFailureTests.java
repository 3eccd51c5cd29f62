package dev.flotilla.launch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;

@Tag("slow")
@Isolated("looks at all children of this process")
class RankFailureTests {

  @TempDir Path folder;
  private Launch launch;

  @BeforeEach
  void prepare() {
    launch = new Launch(folder);
  }

  @AfterEach
  void noProcessIsLeft() {
    List<ProcessHandle> left =
        ProcessHandle.current()
            .descendants()
            .filter(process -> process.info().command().orElse("").endsWith("java"))
            .filter(ProcessHandle::isAlive)
            .toList();
    assertThat(left).isEmpty();
  }

  private Failure fail(int processes, String... steps) {
    LaunchResult result = launch.run(processes, steps);
    Failure failure = result.failure().orElseThrow();
    assertThat(result.exitCode()).isEqualTo(failure.exitCode());
    assertThat(launch.err()).contains("flotilla: " + failure.report());
    return failure;
  }

  @Test
  void namesARankThatExitsThree() {
    Failure failure = fail(2, "1:print:last words", "1:exit:3", "0:sleep:60000");

    assertThat(failure.rank()).isEqualTo(1);
    assertThat(failure.exitCode()).isEqualTo(3);
    assertThat(failure.end()).isEqualTo("exit code 3");
    assertThat(failure.host()).isEqualTo(HostName.local());
    assertThat(failure.log()).isEqualTo(launch.log(1));
    assertThat(failure.lastLines()).containsExactly("last words");
    assertThat(failure.others())
        .singleElement()
        .asString()
        .matches("rank 0 \\(pid \\d+\\) was stopped by the launcher \\(SIGTERM\\)");
  }

  @Test
  void namesTheExceptionOfARankThatThrows() {
    Failure failure = fail(2, "1:throw:bad weather", "0:sleep:60000");

    assertThat(failure.rank()).isEqualTo(1);
    assertThat(failure.exitCode()).isEqualTo(1);
    assertThat(failure.cause()).isEqualTo("java.lang.IllegalStateException: bad weather");
    assertThat(failure.lastLines()).anyMatch(line -> line.contains("at dev.flotilla.launch.Test"));
  }

  @Test
  void printsTheMessageAloneOfAnExpectedEnd() {
    Failure failure = fail(1, "*:peer:link to rank 7 lost");

    assertThat(failure.exitCode()).isEqualTo(5);
    assertThat(failure.cause())
        .contains("link to rank 7 lost")
        .contains("look at the other hosts and links");
    assertThat(failure.lastLines()).containsExactly("link to rank 7 lost");
  }

  @Test
  void endsWithThreeWhenMemoryIsExhausted() {
    assertThat(fail(1, "*:memory:heap").exitCode()).isEqualTo(3);
  }

  @Test
  void namesARankThatWasKilled() {
    Failure failure = fail(2, "1:signal:KILL", "0:sleep:60000");

    assertThat(failure.rank()).isEqualTo(1);
    assertThat(failure.exitCode()).isEqualTo(137);
    assertThat(failure.end()).isEqualTo("SIGKILL (exit code 137)");
    assertThat(failure.cause()).contains("out-of-memory killer");
  }

  @Test
  void namesARankThatAborted() {
    Failure failure = fail(1, "*:signal:ABRT");

    assertThat(failure.exitCode()).isEqualTo(134);
    assertThat(failure.cause()).startsWith("killed by SIGABRT: an abort in native code");
  }

  @Test
  void namesTheRankThatThrewThoughItsPeerEndedEarlier() {
    Path gone = folder.resolve("gone");
    Failure failure =
        fail(
            3,
            "0:touch:" + gone,
            "0:peer:connection closed by peer",
            "1:await:" + gone,
            "1:sleep:200",
            "1:throw:the cause",
            "2:sleep:60000");

    assertThat(failure.rank()).isEqualTo(1);
    assertThat(failure.exitCode()).isEqualTo(1);
    assertThat(failure.cause()).contains("the cause");
    assertThat(failure.others())
        .anyMatch(line -> line.matches("rank 0 .* exit code 5: .*connection closed by peer"))
        .anyMatch(line -> line.startsWith("rank 2") && line.contains("stopped by the launcher"));
  }

  @Test
  void namesAStoppedRankWhenAPeerGaveUpOnIt() throws IOException {
    Path stopped = folder.resolve("pid");
    Failure failure =
        fail(
            2,
            "1:pid:" + stopped,
            "1:signal:STOP",
            "0:await:" + stopped,
            "0:sleep:3000",
            "0:peer:timed out after 3 s");

    assertThat(failure.rank()).isEqualTo(1);
    assertThat(failure.exitCode()).isEqualTo(5);
    assertThat(failure.pid()).isEqualTo(Long.parseLong(Files.readString(stopped)));
    assertThat(failure.cause())
        .startsWith("rank 1 (pid %d) is stopped (SIGSTOP); rank 0 waited".formatted(failure.pid()))
        .contains("timed out after 3 s");
  }

  @Test
  void namesARankThatWasStoppedBeforeTheRanksHadMet() {
    Path stopped = folder.resolve("pid");
    Failure failure =
        fail(
            2,
            "1:pid:" + stopped,
            "1:signal:STOP",
            "0:await:" + stopped,
            "0:sleep:1000",
            "0:exit:6");

    assertThat(failure.rank()).isEqualTo(1);
    assertThat(failure.exitCode()).isEqualTo(6);
    assertThat(failure.cause()).contains("is stopped (SIGSTOP); rank 0 waited");
  }

  @Test
  void killsARankThatIgnoresTheRequestToEnd() {
    launch.grace(Duration.ofSeconds(1));
    Path ready = folder.resolve("ready");
    long start = System.nanoTime();
    Failure failure =
        fail(
            2, "1:ignoreTerm", "1:touch:" + ready, "1:sleep:60000", "0:await:" + ready, "0:exit:1");

    assertThat(failure.rank()).isZero();
    assertThat(failure.others()).singleElement().asString().contains("killed by the launcher");
    assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(10));
  }

  @Test
  void killsWhatRanksHaveStarted() throws IOException {
    Path failed = folder.resolve("child-of-failed");
    Path stopped = folder.resolve("child-of-stopped");
    fail(
        2,
        "1:child:" + failed,
        "0:child:" + stopped,
        "0:sleep:60000",
        "1:await:" + stopped,
        "1:signal:KILL");

    assertDead(failed);
    assertDead(stopped);
  }

  @Test
  void killsWhatSuccessfulRanksLeaveBehindAndSaysSo() throws IOException {
    Path child = folder.resolve("child");

    assertThat(launch.run(1, "*:child:" + child).exitCode()).isZero();

    assertDead(child);
    assertThat(launch.err()).contains("flotilla: killed 1 process that ranks had left behind");
  }

  @Test
  void saysThatTheMainClassIsMissing() {
    var command =
        new RankCommand(
            RankCommand.currentJava(), List.of(), Launch.classPath(), "no.Such", List.of());

    LaunchResult result = launch.launcher().run(launch.settings(1), command, () -> {});

    assertThat(result.exitCode()).isEqualTo(2);
    assertThat(launch.log(0)).hasContent("the main class no.Such is not on the class path\n");
  }

  @Test
  void stopsAllRanksWhenItsThreadIsInterrupted() throws InterruptedException {
    Path ready = folder.resolve("ready");
    var results = new ArrayBlockingQueue<LaunchResult>(1);
    Thread launcher =
        Thread.ofPlatform()
            .start(() -> results.add(launch.run(2, "0:touch:" + ready, "*:sleep:60000")));
    await().atMost(Duration.ofSeconds(10)).until(() -> Files.exists(ready));

    launcher.interrupt();

    assertThat(results.poll(10, TimeUnit.SECONDS)).isEqualTo(LaunchResult.interrupted());
    assertThat(launch.err()).contains("flotilla: interrupted; stopping 2 ranks");
  }

  @Test
  void startsNothingWhenItsThreadIsInterruptedAlready() {
    Path marker = folder.resolve("marker");
    Thread.currentThread().interrupt();

    LaunchResult result = launch.run(1, "*:touch:" + marker);

    assertThat(Thread.interrupted()).isTrue();
    assertThat(result).isEqualTo(LaunchResult.interrupted());
    assertThat(marker).doesNotExist();
  }

  private static void assertDead(Path pidFile) throws IOException {
    long pid = Long.parseLong(Files.readString(pidFile));
    await().atMost(Duration.ofSeconds(5)).until(() -> isGone(pid));
  }

  /** A dead orphan stays in the process table until the system's first process takes note. */
  private static boolean isGone(long pid) {
    try {
      String stat = Files.readString(Path.of("/proc/" + pid + "/stat"));
      return stat.substring(stat.lastIndexOf(')') + 2).startsWith("Z");
    } catch (IOException noSuchProcess) {
      return true;
    }
  }
}
