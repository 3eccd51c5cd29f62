package dev.flotilla.app;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Somebody without the key reaches every port of a job of two hosts, and has seen what went over
 * the network before: nothing is gained, and the job learns the same. The hosts are network
 * namespaces; needs root, {@code ip} and {@code prlimit}.
 */
@Tag("slow")
@Timeout(3600)
class StrangerTests {

  private static final int TRIES = Integer.getInteger("flotilla.test.strangers", 12);

  @TempDir Path folder;

  @Test
  void whoHasNotTheKeyGainsNothingAndDisturbsNothing() throws Exception {
    Path loot = folder.resolve("loot");
    try (var hosts = TwoHosts.connectWithStranger();
        var programs = new HostPrograms(folder)) {
      var job = new DisturbedJob(hosts, folder);
      Path capture = folder.resolve("capture");
      var _ = capture(hosts, programs, capture);
      String err =
          job.learnsTheSame(
              TRIES,
              (first, second) -> {
                job.awaitTraining(first);
                assertThat(job.listening(first, second)).containsExactly(job.control());
                var arguments =
                    new ArrayList<>(List.of("" + TRIES, capture.toString(), loot.toString()));
                arguments.add(job.control());
                arguments.addAll(job.others(first, second));
                String[] words = arguments.toArray(String[]::new);
                String said =
                    end(programs.start(hosts.stranger(), "stranger.log", Stranger.class, words));
                assertThat(said).contains("tries %d,".formatted(TRIES), ", gained 0 {");
                assertThat(said).doesNotContain("answered 0,");
              });
      assertThat(err)
          .contains("somebody at %s who has not proved".formatted(hosts.strangerAddress(0)));
      assertThat(loot).doesNotExist();
    }
  }

  /** From before the start on, at every port as soon as it is open. */
  @Tag("thorough")
  @Test
  void withSecureNotEvenTheStartIsDisturbed() throws Exception {
    try (var hosts = TwoHosts.connectWithStranger();
        var programs = new HostPrograms(folder)) {
      var job = new DisturbedJob(hosts, folder, "--secure");
      Path capture = folder.resolve("capture");
      Process capturing = capture(hosts, programs, capture);
      Path targets = Files.writeString(folder.resolve("targets"), job.control());
      Path refusing = Files.createFile(folder.resolve("refusing"));
      Process stranger =
          programs.start(
              hosts.stranger(),
              "stranger.log",
              SecureStranger.class,
              "" + TRIES,
              capture.toString(),
              targets.toString(),
              refusing.toString());
      Awaitility.await()
          .atMost(Running.PATIENCE)
          .until(() -> Files.readString(log()).contains(SecureStranger.READY));
      String err =
          job.learnsTheSame(
              TRIES,
              (first, second) -> {
                var seen = new TreeSet<>(Set.of(job.control()));
                while (first.process().isAlive() && !job.hasBegun()) {
                  seen.addAll(job.listening(first, second));
                  replace(targets, seen);
                  Thread.sleep(50);
                }
                job.awaitTraining(first);
                // What ranks exchange passes there too.
                capturing.destroy();
                System.out.println("were open: " + seen);
                Awaitility.await()
                    .untilAsserted(
                        () ->
                            assertThat(job.listening(first, second))
                                .containsExactly(job.control()));
                replace(targets, Set.of(job.control()));
                seen.remove(job.control());
                seen.addAll(job.others(first, second));
                replace(refusing, seen);
                String said = end(stranger);
                assertThat(said).contains("tries %d,".formatted(TRIES), ", gained 0 {");
                assertThat(said).doesNotContain("answered 0,");
              });
      assertThat(err).contains("somebody at %s was turned".formatted(hosts.strangerAddress(0)));
    }
  }

  /** It may be read at any time. */
  private void replace(Path file, Collection<String> lines) throws IOException {
    Path next = Files.write(folder.resolve("next"), lines);
    Files.move(next, file, StandardCopyOption.ATOMIC_MOVE);
  }

  private static Process capture(TwoHosts hosts, HostPrograms programs, Path file)
      throws IOException {
    String[] words = {file.toString(), "" + DisturbedJob.CONTROL};
    Process capturing = programs.start(hosts.name(0), "capture.log", Capture.class, words);
    Awaitility.await().until(() -> Files.exists(file));
    return capturing;
  }

  private Path log() {
    return folder.resolve("stranger.log");
  }

  private String end(Process stranger) throws Exception {
    assertThat(stranger.waitFor(60 + 2L * TRIES, TimeUnit.SECONDS)).isTrue();
    String said = Files.readString(log());
    assertThat(stranger.exitValue()).as(said).isZero();
    System.out.print(said);
    return said;
  }
}
