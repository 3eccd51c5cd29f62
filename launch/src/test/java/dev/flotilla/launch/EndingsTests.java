package dev.flotilla.launch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** However a launch ends, nothing of it is left; while it runs on one host, it opens no port. */
@Tag("slow")
@Timeout(60)
class EndingsTests {

  private static final Duration PATIENCE = Duration.ofSeconds(5);

  @TempDir Path folder;

  /**
   * One way for a launch to end.
   *
   * @param step what rank 0 does
   * @param signal what the launcher gets meanwhile
   */
  record Ending(String step, @Nullable String signal, int exitCode) {}

  private static final List<Ending> ENDINGS =
      List.of(
          new Ending("sleep:1000", null, 0),
          new Ending("exit:3", null, 3),
          new Ending("throw:x", null, 1),
          new Ending("signal:KILL", null, 137),
          new Ending("train:99999/20", "TERM", 10),
          new Ending("sleep:30000", "TERM", 143),
          new Ending("sleep:30000", "INT", 130),
          new Ending("sleep:30000", "KILL", 137));

  /** All in turn: each once, and more often by the profile {@code thorough}. */
  static Stream<Ending> endings() {
    return IntStream.range(0, Integer.getInteger("flotilla.test.endings", ENDINGS.size()))
        .mapToObj(i -> ENDINGS.get(i % ENDINGS.size()));
  }

  @Execution(ExecutionMode.CONCURRENT)
  @ParameterizedTest
  @MethodSource("endings")
  void nothingIsLeft(Ending ending) throws Exception {
    String step = ending.step();
    String signal = ending.signal();
    try (var launcher =
        LauncherProcess.start(
            folder, 2, "*:link", "*:print:ready", "0:sleep:700", "0:" + step, "1:" + other(step))) {
      launcher.awaitRanks(2);
      assertThat(listening(launcher)).isEmpty();
      String key = key();
      assertThat(visibleTo(launcher)).contains("FLOTILLA_CONTROL_FOLDER").doesNotContain(key);
      if (signal != null) {
        launcher.awaitLog(0, "ready");
        launcher.awaitLog(1, "ready");
        Thread.sleep(1500);
        LauncherProcess.signal(signal, launcher.process().pid());
      }

      assertThat(launcher.await(20)).as(launcher.out()).isEqualTo(ending.exitCode());
      assertThat(launcher.out() + launcher.logOf(0) + launcher.logOf(1)).doesNotContain(key);

      await()
          .atMost(PATIENCE)
          .until(() -> launcher.ranks().stream().noneMatch(ProcessHandle::isAlive));
      // The next launcher removes what a killed one leaves; MeetingFolderTests shows it.
      if (!"KILL".equals(signal)) {
        assertThat(temporaryFolders()).isEmpty();
      }
    }
  }

  private String key() throws IOException {
    Path file = temporaryFolders().getFirst().resolve("key");
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
        .isEqualTo("rw-------");
    String key = Files.readString(file);
    assertThat(key).hasSize(64);
    return key;
  }

  /** Returns the arguments and variables of all processes, which others may see. */
  private static String visibleTo(LauncherProcess launcher) throws IOException {
    var text = new StringBuilder();
    for (ProcessHandle process :
        Stream.concat(Stream.of(launcher.process().toHandle()), launcher.ranks().stream())
            .toList()) {
      for (String file : List.of("cmdline", "environ")) {
        Path path = Path.of("/proc/%d/%s".formatted(process.pid(), file));
        text.append(Files.readString(path, StandardCharsets.ISO_8859_1));
      }
    }
    return text.toString();
  }

  /** The second rank trains along, or waits until it is stopped. */
  private static String other(String step) {
    return step.startsWith("train") || step.equals("sleep:1000") ? step : "sleep:30000";
  }

  private List<Path> temporaryFolders() throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files.filter(file -> file.getFileName().toString().startsWith("flotilla-")).toList();
    }
  }

  private static Set<String> listening(LauncherProcess launcher) throws IOException {
    Set<String> sockets = new HashSet<>();
    sockets.addAll(socketsOf(launcher.process().pid()));
    for (ProcessHandle rank : launcher.ranks()) {
      sockets.addAll(socketsOf(rank.pid()));
    }
    Set<String> listening = new HashSet<>();
    for (String table : List.of("/proc/net/tcp", "/proc/net/tcp6")) {
      for (String line : Files.readAllLines(Path.of(table))) {
        String[] columns = line.strip().split(" +", -1);
        if (columns[3].equals("0A") && sockets.contains("socket:[" + columns[9] + "]")) {
          listening.add(line);
        }
      }
    }
    return listening;
  }

  private static Set<String> socketsOf(long pid) {
    Set<String> sockets = new HashSet<>();
    try (DirectoryStream<Path> links =
        Files.newDirectoryStream(Path.of("/proc/%d/fd".formatted(pid)))) {
      for (Path link : links) {
        sockets.add(Files.readSymbolicLink(link).toString());
      }
    } catch (IOException gone) {
      return sockets;
    }
    return sockets;
  }
}
