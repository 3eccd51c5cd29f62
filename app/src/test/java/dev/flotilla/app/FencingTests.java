package dev.flotilla.app;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.world.ExitCodes;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A run is frozen, another process goes on with it where no lock keeps it out, and the first one is
 * thawed: it writes nothing any more.
 */
@Tag("slow")
@Timeout(180)
class FencingTests {

  @TempDir Path folder;

  /** C2: at so many instants. */
  private static final int THAWS = Integer.getInteger("flotilla.test.thaws", 1);

  static Stream<Integer> instants() {
    return IntStream.range(0, THAWS).mapToObj(i -> 23 * i);
  }

  @ParameterizedTest
  @MethodSource("instants")
  void whoWasFrozenWritesNothingAfterAnotherHasGoneOn(int later) throws Exception {
    var flotilla = Flotilla.in(folder);
    Path run = flotilla.work().resolve("run");
    try (var frozen = start(flotilla)) {
      frozen.awaitTraining(run);
      Thread.sleep(later);
      Running.signal("STOP", frozen.process().toHandle());
      // As on a file system without locks, or one that has dropped those of a host it lost.
      Files.delete(run.resolve(".lock"));
      Files.delete(run.resolve("checkpoints/.lock"));
      try (var next = start(flotilla, "--resume=auto")) {
        next.await().expect(0);
      }
      Map<String, String> before = digests(run);
      assertThat(before).containsKeys("summary.json", "model.safetensors", "events.jsonl");

      Running.signal("CONT", frozen.process().toHandle());
      var ended = frozen.await().expect(ExitCodes.CHECKPOINT).explainsItself();

      assertThat(ended.err()).contains("another process has taken over");
      assertThat(digests(run)).isEqualTo(before);
    }
  }

  private static Running start(Flotilla flotilla, String... more) {
    var arguments =
        new ArrayList<>(
            List.of(
                "train",
                "--set=model={name: mlp, hidden: [16]}",
                "--set=threads=1",
                "--set=epochs=10000",
                "--set=eval={every: end}",
                "--set=checkpoint={every: 100}",
                "--max-steps=1500",
                "--out=run"));
    arguments.addAll(List.of(more));
    return flotilla.start(arguments.toArray(String[]::new));
  }

  /** Returns the digest of every file but that of the lock. */
  private static Map<String, String> digests(Path run) throws Exception {
    var digests = new TreeMap<String, String>();
    try (var files = Files.walk(run)) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        if (!file.endsWith(".lock")) {
          digests.put(run.relativize(file).toString(), digest(file));
        }
      }
    }
    return digests;
  }

  private static String digest(Path file) throws Exception {
    var digest = MessageDigest.getInstance("SHA-256");
    return HexFormat.of().formatHex(digest.digest(Files.readAllBytes(file)));
  }
}
