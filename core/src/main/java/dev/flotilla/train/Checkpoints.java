package dev.flotilla.train;

import dev.flotilla.checkpoint.Position;
import dev.flotilla.checkpoint.SavedCheckpoint;
import dev.flotilla.collective.Collective;
import dev.flotilla.report.EventSink;
import dev.flotilla.report.TrainingEvent;
import dev.flotilla.state.Stateful;
import dev.flotilla.step.NumericalException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Saves and restores everything a trainer remembers; all ranks call each method together. */
final class Checkpoints implements AutoCloseable {

  private final @Nullable CheckpointSettings settings;
  private final Collective collective;
  private final EventSink events;
  private final Map<String, String> facts;
  private final List<Stateful> parts;
  private final @Nullable RunFolder folder;
  private final @Nullable Saves saves;

  /**
   * Takes possession of the folder, if there is to be one.
   *
   * @param facts what the run is
   * @param parts everything that remembers
   * @param folder the run's folder, if it has one; rank 0's alone
   */
  Checkpoints(
      @Nullable CheckpointSettings settings,
      Collective collective,
      EventSink events,
      Map<String, String> facts,
      List<Stateful> parts,
      @Nullable RunFolder folder) {
    this.settings = settings;
    this.collective = collective;
    this.events = events;
    this.facts = facts;
    this.parts = List.copyOf(parts);
    this.folder = folder;
    var run = folder == null ? RunMark.newName() : folder.run();
    this.saves = settings == null ? null : new Saves(settings, collective, events, run);
  }

  /** Tells whether checkpoints are wanted and can be saved. */
  boolean areOn() {
    return saves != null && saves.isOn();
  }

  /**
   * Called before the first step: a run that took up no checkpoint is a new one.
   *
   * @throws dev.flotilla.settings.ConfigException if its folder holds the checkpoints of another
   *     run
   */
  void begin() {
    if (saves != null) {
      saves.requireOwnFolder();
    }
    if (folder != null) {
      folder.begin();
    }
  }

  void save(Position position) {
    if (saves == null) {
      throw new IllegalStateException("the trainer has no checkpoints: call checkpoints(...)");
    }
    begin();
    saves.save(position, facts, parts);
  }

  /** Says which one is kept besides the newest. */
  void keepBest(Position position) {
    if (saves != null) {
      saves.keepBest(position);
    }
  }

  /** Waits until the last one is committed. */
  void await() {
    if (saves != null) {
      saves.await();
    }
  }

  /**
   * Goes on from the newest that every rank can read; returns which one, if there is any.
   *
   * @throws dev.flotilla.checkpoint.CheckpointException if the named one, or all, are damaged
   */
  Optional<SavedCheckpoint> resume(Path from) {
    var resumption = resumption();
    Optional<SavedCheckpoint> found = restore(resumption, from);
    found.ifPresent(this::goOnFrom);
    found.ifPresent(checkpoint -> resumption.noteChanges(checkpoint, facts));
    return found;
  }

  private Resumption resumption() {
    return new Resumption(Preparation.patient(collective), this::note, this::distrust);
  }

  private Optional<SavedCheckpoint> restore(Resumption resumption, Path from) {
    return resumption.restore(CommonFolder.of(collective, from), facts, parts);
  }

  /** Events and checkpoints behind the place where the run goes on are not its own any more. */
  private void goOnFrom(SavedCheckpoint checkpoint) {
    if (saves != null) {
      var run = folder == null ? checkpoint.run().orElseGet(RunMark::newName) : folder.run();
      saves.goOnFrom(checkpoint, run, this::addEvents);
    }
    if (folder != null) {
      folder.goOnFrom(checkpoint.folder());
    }
  }

  private void addEvents(Path aside) {
    if (folder != null) {
      folder.keepEventsIn(aside);
    }
  }

  private void note(String text) {
    events.on(new TrainingEvent.Noted(text));
  }

  private void distrust(Path checkpoint) {
    if (saves != null) {
      saves.distrust(checkpoint);
    }
  }

  /** Restores the last one of this run, because its numbers have gone wrong. */
  void rollBack(String why) {
    await();
    Optional<SavedCheckpoint> checkpoint =
        settings == null ? Optional.empty() : restore(resumption(), settings.folder());
    long updates =
        checkpoint
            .orElseThrow(
                () -> new NumericalException(why + ", and there is no checkpoint to go back to"))
            .position()
            .updates();
    note(
        "%s; back to the checkpoint after update %d, leaving out the data since then"
            .formatted(why, updates));
  }

  @Override
  public void close() {
    if (saves != null) {
      saves.close();
    }
  }
}
