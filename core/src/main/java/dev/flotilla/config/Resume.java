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
   */
  record From(Path path) implements Resume {}

  /** Reads {@code auto} or a path. */
  static Resume parse(String text) {
    return text.equals("auto") ? new Auto() : new From(Path.of(text));
  }
}
