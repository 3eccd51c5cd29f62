package dev.flotilla.train;

import dev.flotilla.checkpoint.Position;
import dev.flotilla.checkpoint.SavedCheckpoint;
import dev.flotilla.collective.Collective;
import dev.flotilla.engine.NumbersException;
import dev.flotilla.report.EventSink;
import dev.flotilla.report.TrainingEvent;
import dev.flotilla.state.Stateful;
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
  private final @Nullable Saves saves;

  /**
   * Takes possession of the folder, if there is to be one.
   *
   * @param facts what the run is
   * @param parts everything that remembers
   */
  Checkpoints(
      @Nullable CheckpointSettings settings,
      Collective collective,
      EventSink events,
      Map<String, String> facts,
      List<Stateful> parts) {
    this.settings = settings;
    this.collective = collective;
    this.events = events;
    this.facts = facts;
    this.parts = List.copyOf(parts);
    this.saves = settings == null ? null : new Saves(settings, collective, events);
  }

  /** Tells whether checkpoints are wanted and can be saved. */
  boolean areOn() {
    return saves != null && saves.isOn();
  }

  void save(Position position) {
    if (saves == null) {
      throw new IllegalStateException("the trainer has no checkpoints: call checkpoints(...)");
    }
    saves.save(position, facts, parts);
  }

  /** Waits until the last one is committed. */
  void await() {
    if (saves != null) {
      saves.await();
    }
  }

  /** Restores the newest that every rank can read; returns which one, if there is any. */
  Optional<SavedCheckpoint> restore(Path from) {
    var resumption = new Resumption(Preparation.patient(collective), this::note, this::distrust);
    return resumption.restore(CommonFolder.of(collective, from), facts, parts);
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
        settings == null ? Optional.empty() : restore(settings.folder());
    long updates =
        checkpoint
            .orElseThrow(
                () -> new NumbersException(why + ", and there is no checkpoint to go back to"))
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
