package dev.flotilla.train;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.report.TrainingEvent;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MeasuredLogTests {

  @TempDir Path folder;

  /** Who was frozen between its look at the folder and its write has no second look. */
  @Test
  void anEarlierAttemptWritesToWhatNobodyReads() throws Exception {
    var file = folder.resolve("measured.jsonl");
    try (var earlier = new MeasuredLog(file);
        var next = new MeasuredLog(file)) {
      earlier.on(new TrainingEvent.Resumed("a", 1));
      earlier.open(null);
      earlier.on(new TrainingEvent.Resumed("b", 2));
      next.open(file);
      earlier.on(new TrainingEvent.Resumed("c", 3));
      next.on(new TrainingEvent.Resumed("d", 4));
      assertThat(file)
          .content()
          .contains("\"a\"", "\"b\"", "\"d\"")
          .doesNotContain("\"c\"")
          .hasLineCount(3);
    }
  }
}
