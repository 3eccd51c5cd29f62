package dev.flotilla.train;

import dev.flotilla.settings.Check;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * When and where a fit saves checkpoints.
 *
 * @param folder where they go, the same for all ranks; on several hosts a folder they share
 * @param every when to save
 * @param keep how many of the newest are kept
 * @param async whether training goes on while a checkpoint is written
 * @param onError what happens when one cannot be written
 * @param isRequired whether a folder that not all ranks see is an error; otherwise the run goes on
 *     without checkpoints and says so
 * @param best the value whose best checkpoint is saved and kept besides the newest ones; null for
 *     none
 */
public record CheckpointSettings(
    Path folder,
    Every every,
    int keep,
    boolean async,
    OnError onError,
    boolean isRequired,
    @Nullable String best) {

  /** What happens when a checkpoint cannot be written. */
  public enum OnError {
    /** Training goes on, with a line that says what failed. */
    CONTINUE,
    /** The run ends. */
    STOP
  }

  /** Checks the number. */
  public CheckpointSettings {
    Check.that(keep >= 1, "keep", "must be at least 1", keep).orThrow();
  }

  /** Saves at the end of each epoch behind the training, and keeps three. */
  public static CheckpointSettings in(Path folder) {
    return new CheckpointSettings(folder, Every.epoch(), 3, true, OnError.CONTINUE, true, null);
  }

  /** Returns the same settings with another number of updates between two checkpoints. */
  public CheckpointSettings every(long updates) {
    return every(Every.updates(updates));
  }

  /** Returns the same settings for other times. */
  public CheckpointSettings every(Every other) {
    return new CheckpointSettings(folder, other, keep, async, onError, isRequired, best);
  }

  /**
   * Returns the same settings where a checkpoint is also saved whenever an evaluation is the best
   * so far, and the best one is kept.
   *
   * @param metric which value decides: {@code loss}, {@code accuracy}, or the name of a metric;
   *     null for none
   */
  public CheckpointSettings best(@Nullable String metric) {
    return new CheckpointSettings(folder, every, keep, async, onError, isRequired, metric);
  }

  /** Returns the same settings with another number of checkpoints that are kept. */
  public CheckpointSettings keep(int newest) {
    return new CheckpointSettings(folder, every, newest, async, onError, isRequired, best);
  }

  /** Returns the same settings where training goes on meanwhile, or waits until one is written. */
  public CheckpointSettings async(boolean goesOn) {
    return new CheckpointSettings(folder, every, keep, goesOn, onError, isRequired, best);
  }

  /** Returns the same settings with another answer to a checkpoint that cannot be written. */
  public CheckpointSettings onError(OnError answer) {
    return new CheckpointSettings(folder, every, keep, async, answer, isRequired, best);
  }

  /** Returns the same settings for a run that nobody has asked to save. */
  public CheckpointSettings ifPossible() {
    return new CheckpointSettings(folder, every, keep, async, onError, false, best);
  }
}
