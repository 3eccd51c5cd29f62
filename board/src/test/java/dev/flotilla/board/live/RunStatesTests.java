package dev.flotilla.board.live;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a run is doing, by its lock and by its silence. */
class RunStatesTests {

  private static final Duration NOW = Duration.ZERO;
  private static final Duration MINUTE = Duration.ofMinutes(1);
  private static final Duration HOUR = Duration.ofHours(1);

  @TempDir Path folder;

  private RunState state(boolean isFinished, Duration quiet) {
    return new RunStates(FolderLocks.now()).of(folder, isFinished, quiet);
  }

  @Test
  void theKernelsListTellsWhoHoldsAFolder() throws IOException {
    var file = folder.resolve(".lock");
    try (var channel =
            FileChannel.open(file, Set.of(StandardOpenOption.CREATE, StandardOpenOption.WRITE));
        var lock = channel.lock(1, 1, false)) {
      assertThat(lock.isValid()).isTrue();
      assertThat(state(false, NOW)).isEqualTo(RunState.RUNNING);
      assertThat(state(false, MINUTE)).isEqualTo(RunState.RUNNING);
      assertThat(state(false, HOUR)).isEqualTo(RunState.STALE);
      assertThat(state(true, HOUR)).isEqualTo(RunState.FINISHED);
    }
    assertThat(state(false, NOW)).isEqualTo(RunState.RUNNING);
    assertThat(state(false, MINUTE)).isEqualTo(RunState.FAILED);
    assertThat(state(true, MINUTE)).isEqualTo(RunState.FINISHED);
    assertThat(Files.size(file)).as("nothing was written").isZero();
  }

  /** Without a lock file, or without the kernel's list, silence alone tells. */
  @Test
  void whatCannotBeKnownIsNotCalledAFailure() {
    assertThat(state(false, MINUTE)).isEqualTo(RunState.RUNNING);
    assertThat(state(false, HOUR)).isEqualTo(RunState.STALE);
    var blind = new RunStates(FolderLocks.of(folder.resolve("absent")));
    assertThat(blind.of(folder, false, HOUR)).isEqualTo(RunState.STALE);
  }

  @Test
  void linesOfTheKernelAreUnderstood() throws IOException {
    var list =
        Files.writeString(
            folder.resolve("locks"),
            """
            1: POSIX  ADVISORY  WRITE 4711 fe:01:1835022 0 0
            1: -> POSIX  ADVISORY  WRITE 4712 fe:01:1835023 0 0
            2: FLOCK  ADVISORY  READ -1 00:1a:77 0 EOF
            nonsense
            """);
    assertThat(FolderLocks.of(list).inodes()).containsExactlyInAnyOrder(1835022L, 77L);
  }
}
