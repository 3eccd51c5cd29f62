package dev.flotilla.board.live;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Which folders count as runs. */
class RunFoldersTests {

  @TempDir Path folder;

  @Test
  void findsRunsAtAnyDepthButNotThoseBehindLinksOrInsideRuns() throws IOException {
    var root = folder.resolve("root");
    var one = SampleRun.in(root.resolve("one")).folder();
    var two = SampleRun.in(root.resolve("a/b/c/two")).folder();
    SampleRun.in(one.resolve("checkpoints-1"));
    SampleRun.in(root.resolve(".hidden"));
    var elsewhere = SampleRun.in(folder.resolve("elsewhere")).folder();
    Files.createSymbolicLink(root.resolve("link"), elsewhere);
    Files.createDirectories(root.resolve("fake"));
    Files.createSymbolicLink(root.resolve("fake/events.jsonl"), elsewhere.resolve("events.jsonl"));
    var found = new RunFolders(root).find();
    assertThat(found.values()).containsExactly(one, two);
    assertThat(found.keySet()).allMatch(id -> id.matches("[0-9a-f]{16}"));
    assertThat(new RunFolders(root).find()).isEqualTo(found);
    assertThat(new RunFolders(one).find().values()).containsExactly(one);
  }
}
