package dev.flotilla.train;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.data.BatchSource;
import dev.flotilla.optim.Adam;
import dev.flotilla.strategy.merge.GradientMerge;
import dev.flotilla.testkit.ColouredPoints;
import dev.flotilla.testkit.Ranks;
import dev.flotilla.world.World;
import dev.flotilla.zoo.model.Mlp;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;

/** What Java's Flight Recorder sees of a run; no other run may be recorded meanwhile. */
@Isolated
class FlightRecorderTests {

  @TempDir Path folder;

  private List<RecordedEvent> record(Runnable run) throws IOException {
    var file = folder.resolve("run.jfr");
    try (var recording = new Recording()) {
      List.of("Step", "Exchange", "Checkpoint", "Arena")
          .forEach(name -> recording.enable("dev.flotilla." + name).withoutThreshold());
      recording.start();
      run.run();
      recording.stop();
      recording.dump(file);
    }
    return RecordingFile.readAllEvents(file);
  }

  private void train() {
    var worlds = Ranks.of(2).callWorlds(this::trainOn);
    assertThat(worlds).containsExactly(4L, 4L);
  }

  private long trainOn(World world) {
    try (var trainer =
        Trainer.on(world)
            .model(new Mlp(8, List.of(16), 4))
            .optimizer(new Adam(0.01))
            .strategy(new GradientMerge(2))
            .threads(1)
            .checkpoints(CheckpointSettings.in(folder.resolve("saved")).every(2))
            .events(_ -> {})
            .loop(LoopSettings.defaults().endAfterUpdates(4))
            .build()) {
      trainer.fit(BatchSource.global(new ColouredPoints(96, 8, 4), 12).shuffled(7), 1);
      return trainer.updates();
    }
  }

  @Test
  void recordsStepsExchangesCheckpointsAndArenas() throws IOException {
    var events = record(this::train);

    var steps = named(events, "Step");
    assertThat(steps).hasSize(2 * 8).allMatch(event -> event.getInt("samples") == 6);
    assertThat(steps).filteredOn(event -> event.getBoolean("updated")).hasSize(2 * 4);
    assertThat(steps)
        .extracting(event -> event.getLong("microStep"))
        .containsExactlyInAnyOrder(0L, 0L, 1L, 1L, 2L, 2L, 3L, 3L, 4L, 4L, 5L, 5L, 6L, 6L, 7L, 7L);
    // 8 · 16 + 16 + 16 · 4 + 4 floats, each tensor at a multiple of 16.
    assertThat(named(events, "Arena"))
        .hasSize(2)
        .allMatch(event -> event.getLong("parameterBytes") == 4 * (128 + 16 + 64 + 16))
        .allMatch(event -> event.getLong("keptBytes") == event.getLong("parameterBytes"))
        .allMatch(event -> event.getInt("tensors") == 4 && event.getString("device").equals("cpu"));
    assertThat(named(events, "Exchange"))
        .hasSize(2 * 4)
        .allMatch(event -> event.getLong("bytes") == 4 * 224 && event.getInt("buckets") == 1);
    var saves = named(events, "Checkpoint");
    assertThat(saves)
        .extracting(event -> event.getString("phase") + event.getLong("updates"))
        .contains("copy2", "write2", "copy4", "write4");
    assertThat(saves).allMatch(event -> event.getBoolean("succeeded"));
  }

  private static List<RecordedEvent> named(List<RecordedEvent> events, String name) {
    return events.stream()
        .filter(event -> event.getEventType().getName().equals("dev.flotilla." + name))
        .toList();
  }
}
