package dev.flotilla.train;

import dev.flotilla.world.ExitCoded;
import dev.flotilla.world.ExitCodes;
import org.jspecify.annotations.Nullable;

/** Thrown when a run was asked to stop, after its state was saved. */
public final class StoppedException extends RuntimeException implements ExitCoded {

  StoppedException(long updates, @Nullable CheckpointSettings checkpoints) {
    super(
        "stopped on request after update %d; %s"
            .formatted(
                updates,
                checkpoints == null
                    ? "nothing was saved, because the trainer has no checkpoints"
                    : "go on with --resume " + checkpoints.folder()));
  }

  @Override
  public int exitCode() {
    return ExitCodes.STOPPED;
  }
}
