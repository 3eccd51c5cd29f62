package dev.flotilla.config;

import dev.flotilla.checkpoint.CheckpointException;
import dev.flotilla.checkpoint.Restorer;
import dev.flotilla.checkpoint.SavedCheckpoint;
import dev.flotilla.report.EventSink;
import dev.flotilla.report.TrainingEvent;
import dev.flotilla.settings.ConfigException;
import dev.flotilla.train.RunFolder;
import dev.flotilla.train.RunPaths;
import dev.flotilla.train.Trainer;
import java.nio.file.Path;
import java.util.Optional;

/**
 * Where a run is trained, and from where it goes on: refuses folders that are another run's.
 *
 * @param out the run's folder
 * @param resume whether and from where it goes on
 * @param checkpoints where it saves
 */
record RunLocation(Path out, Resume resume, Path checkpoints) {

  /**
   * Tells whether nothing is left to do; a finished run goes on only if more is asked of it now.
   */
  boolean isFinishedBy(RunConfig config) {
    return resume instanceof Resume.Auto
        && RunPaths.isFinished(out)
        && SavedRun.configuration(out).equals(config.asRead());
  }

  /** Checks that the run may be trained here, without touching anything. */
  void requireUsable() {
    switch (resume) {
      case Resume.No _ -> {
        RunPaths.refuseIfUsed(out);
        requireNoCheckpoints();
      }
      case Resume.Auto _ -> requireOwn();
      case Resume.From from -> {
        if (!hasTakenUp(from)) {
          requireCheckpoint(from.path());
          requireRoomFor(from.path());
        }
      }
    }
  }

  private boolean hasTakenUp(Resume.From from) {
    return from.isRestart() && RunFolder.wasTakenUpBy(from.launch(), out);
  }

  private static void requireCheckpoint(Path path) {
    if (!SavedCheckpoint.isAt(path) && Restorer.candidates(Restorer.folderOf(path)).isEmpty()) {
      throw nothingIn(path);
    }
  }

  private static CheckpointException nothingIn(Path path) {
    return new CheckpointException("there is no checkpoint in " + path);
  }

  private void requireRoomFor(Path checkpoint) {
    if (RunPaths.isInside(checkpoint, out)) {
      return;
    }
    RunPaths.refuseIfUsed(out);
    if (!RunPaths.isInside(checkpoint, checkpoints)) {
      requireNoCheckpoints();
    }
  }

  private void requireNoCheckpoints() {
    if (!Restorer.candidates(checkpoints).isEmpty()) {
      throw foreign();
    }
  }

  /** Another run's checkpoints may be gone on from, but not by mistake. */
  private void requireOwn() {
    Optional<String> own = RunFolder.runIn(out);
    boolean isOwn =
        Restorer.candidates(checkpoints).stream()
            .flatMap(checkpoint -> SavedCheckpoint.runOf(checkpoint).stream())
            .findFirst()
            .map(run -> own.equals(Optional.of(run)))
            .orElse(true);
    if (!isOwn) {
      throw foreign();
    }
  }

  private ConfigException foreign() {
    boolean isInside = checkpoints.equals(RunPaths.checkpointsIn(out));
    return Trainer.foreignCheckpoints(checkpoints, isInside ? "out" : "checkpoint.dir");
  }

  /** Opens the run's folder, which rank 0 alone does. */
  RunFolder open() {
    requireUsable();
    return switch (resume) {
      case Resume.No _ -> RunFolder.create(out);
      case Resume.Auto _ -> RunFolder.reopen(out);
      case Resume.From from ->
          RunFolder.continuing(out, hasTakenUp(from) ? out : from.path(), from.launch());
    };
  }

  /** Takes up what was saved; all ranks call it together, and rank 0's choice is that of all. */
  void resume(Trainer trainer, EventSink people) {
    switch (resume) {
      case Resume.No _ -> {}
      case Resume.Auto _ -> {
        if (trainer.resume(checkpoints).isEmpty()) {
          people.on(
              new TrainingEvent.Noted("no checkpoint in %s: starting anew".formatted(checkpoints)));
        }
      }
      case Resume.From from -> {
        boolean hasSaved = hasTakenUp(from) && !Restorer.candidates(checkpoints).isEmpty();
        var source = hasSaved ? checkpoints : from.path();
        if (trainer.resume(source).isEmpty()) {
          throw nothingIn(source);
        }
      }
    }
  }
}
