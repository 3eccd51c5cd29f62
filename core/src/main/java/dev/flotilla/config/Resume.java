package dev.flotilla.config;

import java.nio.file.Path;

/** Whether and from where a run goes on. */
public sealed interface Resume {

  /** A new run. */
  record No() implements Resume {}

  /** From the newest checkpoint in the run's own folder, or else anew. */
  record Auto() implements Resume {}

  /**
   * From a checkpoint, or from the newest one of a folder.
   *
   * @param path a checkpoint, a folder of checkpoints, or a run's folder
   * @param launch name of the launch, which its restarts share; empty if it has none
   * @param isRestart whether a run that this launch has taken up from there goes on from what it
   *     has saved since
   */
  record From(Path path, String launch, boolean isRestart) implements Resume {

    /** Goes on for the first time, in a launch without a name. */
    public From(Path path) {
      this(path, "", false);
    }
  }

  /** Reads {@code auto} or a path. */
  static Resume parse(String text) {
    return text.equals("auto") ? new Auto() : new From(Path.of(text));
  }
}
