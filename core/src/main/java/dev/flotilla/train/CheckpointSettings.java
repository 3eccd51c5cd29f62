package dev.flotilla.train;

import dev.flotilla.settings.Check;
import java.nio.file.Path;

/**
 * When and where a fit saves checkpoints.
 *
 * @param folder where they go, the same for all ranks; on several hosts a folder they share
 * @param every updates between two; 0 for the end of each epoch, -1 for the end of the fit only
 * @param keep how many of the newest are kept
 * @param async whether training goes on while a checkpoint is written
 * @param onError what happens when one cannot be written
 * @param isRequired whether a folder that not all ranks see is an error; otherwise the run goes on
 *     without checkpoints and says so
 */
public record CheckpointSettings(
    Path folder, long every, int keep, boolean async, OnError onError, boolean isRequired) {

  /** Save at the end of each epoch. */
  public static final long EACH_EPOCH = 0;

  /** Save at the end of the fit only. */
  public static final long AT_END = -1;

  /** What happens when a checkpoint cannot be written. */
  public enum OnError {
    /** Training goes on, with a line that says what failed. */
    CONTINUE,
    /** The run ends. */
    STOP
  }

  /** Checks the numbers. */
  public CheckpointSettings {
    Check.that(every >= AT_END, "every", "must be at least -1", every)
        .and(keep >= 1, "keep", "must be at least 1", keep)
        .orThrow();
  }

  /** Saves at the end of each epoch behind the training, and keeps three. */
  public static CheckpointSettings in(Path folder) {
    return new CheckpointSettings(folder, EACH_EPOCH, 3, true, OnError.CONTINUE, true);
  }

  /** Returns the same settings with another number of updates between two checkpoints. */
  public CheckpointSettings every(long updates) {
    return new CheckpointSettings(folder, updates, keep, async, onError, isRequired);
  }

  /** Returns the same settings for a run that nobody has asked to save. */
  public CheckpointSettings ifPossible() {
    return new CheckpointSettings(folder, every, keep, async, onError, false);
  }
}
