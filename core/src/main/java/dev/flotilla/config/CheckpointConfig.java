package dev.flotilla.config;

import dev.flotilla.settings.Check;
import dev.flotilla.settings.Setting;
import dev.flotilla.train.CheckpointSettings;
import dev.flotilla.train.Every;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * When and where the state of a run is saved.
 *
 * @param every when
 * @param keep how many of the newest are kept
 * @param dir where; null for {@code checkpoints} in the run's folder
 * @param async whether training goes on while a checkpoint is written
 * @param onError what happens when one cannot be written
 * @param best the value whose best checkpoint is kept too; null for none
 */
public record CheckpointConfig(
    @Setting(doc = "When to save: epoch, end, or a number of updates.", def = "epoch") Every every,
    @Setting(doc = "How many of the newest checkpoints are kept.", def = "3") int keep,
    @Setting(
            doc = "Where they go; by default checkpoints in the run's folder. Hosts must share it.",
            def = "null",
            local = true)
        @Nullable Path dir,
    @Setting(doc = "Whether training goes on while a checkpoint is written.", def = "true")
        boolean async,
    @Setting(
            doc = "When a checkpoint cannot be written: continue training, or stop.",
            def = "continue")
        CheckpointSettings.OnError onError,
    @Setting(
            doc = "Value whose best checkpoint is saved and kept too: loss, accuracy, or a metric.",
            def = "null")
        @Nullable String best) {

  /** Checks the number. */
  public CheckpointConfig {
    Check.that(keep >= 1, "keep", "must be at least 1", keep).orThrow();
  }

  /** Returns the settings of a run in a folder. */
  CheckpointSettings in(Path checkpoints) {
    return CheckpointSettings.in(dir == null ? checkpoints : dir)
        .every(every)
        .keep(keep)
        .async(async)
        .onError(onError)
        .best(best);
  }
}
