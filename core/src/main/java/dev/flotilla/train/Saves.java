package dev.flotilla.train;

import dev.flotilla.checkpoint.CheckpointException;
import dev.flotilla.checkpoint.Checkpointer;
import dev.flotilla.checkpoint.Position;
import dev.flotilla.checkpoint.Restorer;
import dev.flotilla.checkpoint.SaveFailures;
import dev.flotilla.checkpoint.SavedCheckpoint;
import dev.flotilla.collective.Collective;
import dev.flotilla.collective.Reduction;
import dev.flotilla.collective.Traffic;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.memory.Tensors;
import dev.flotilla.report.EventSink;
import dev.flotilla.report.TrainingEvent;
import dev.flotilla.settings.ConfigException;
import dev.flotilla.state.Stateful;
import java.io.IOException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;

/** Saves the checkpoints of a trainer, together with the other ranks. */
final class Saves implements AutoCloseable {

  /** A rank may be writing its last checkpoint while the others wait for it to begin the next. */
  private static final Duration LONGEST_WAIT = Duration.ofMinutes(10);

  private final CheckpointSettings settings;
  private final Collective collective;
  private final EventSink events;
  private final Path folder;
  private final Checkpointer checkpointer;
  private final Resources resources = new Resources();
  private final boolean isOn;

  /** Whose checkpoints they are; rank 0 writes it down. */
  private String run;

  /** Whether the folder is known to hold no checkpoints but those of this run. */
  private boolean isOwn;

  /**
   * Takes possession of the folder; all ranks call it together.
   *
   * @param run identity of the run
   */
  Saves(CheckpointSettings settings, Collective collective, EventSink events, String run) {
    this.settings = settings;
    this.collective = collective.withTimeout(LONGEST_WAIT);
    this.events = events;
    this.folder = CommonFolder.of(this.collective, settings.folder());
    this.run = run;
    this.checkpointer =
        resources.own(
            new Checkpointer(
                folder,
                collective.rank(),
                collective.size(),
                settings.keep(),
                commonWriter(),
                saveFailures()));
    try {
      this.isOn = takeFolder();
    } catch (RuntimeException failure) {
      resources.closeAfter(failure);
      throw failure;
    }
  }

  private SaveFailures saveFailures() {
    var store = collective.keyValueStore().section("saves");
    return new SaveFailures() {
      @Override
      public void report(String save, String reason) {
        store.set(save, reason);
      }

      @Override
      public Optional<String> of(String save) {
        return store.get(save);
      }
    };
  }

  /** Returns a text that all ranks of this attempt share, and no other attempt has. */
  private String commonWriter() {
    try (var _ = TensorScope.open()) {
      var token = Tensors.ofLongs(new SecureRandom().nextLong());
      collective.broadcast(token, 0, Traffic.START).await();
      return Long.toHexString(token.item_long());
    }
  }

  /** Returns whether all ranks see the folder. */
  private boolean takeFolder() {
    if (collective.rank() == 0) {
      checkpointer.makeFolder();
      resources.own(lock());
      checkpointer.takeFolder();
    }
    collective.barrier();
    if (allSay(checkpointer.seesFolder())) {
      return true;
    }
    var text = "%s is not the same folder on all hosts".formatted(folder.toAbsolutePath());
    if (settings.isRequired()) {
      throw new ConfigException("checkpoint.dir", text + "; name one that they share");
    }
    events.on(
        new TrainingEvent.Noted(
            "no checkpoints: %s; name one that they share with checkpoint.dir".formatted(text)));
    return false;
  }

  private FolderLock lock() {
    try {
      return FolderLock.ofWriter(folder, "checkpoint.dir");
    } catch (IOException failure) {
      throw new CheckpointException(
          "cannot write checkpoints to %s: %s"
              .formatted(folder, CheckpointException.reason(failure)));
    }
  }

  /**
   * Refuses a folder with checkpoints that this run has not taken up; all ranks call it together.
   *
   * @throws ConfigException if there are any: with older ones of higher numbers there, those of
   *     this run would be the first to be removed, and the wrong ones to go on from
   */
  void requireOwnFolder() {
    if (!isOwn && isOn) {
      isOwn = allSay(collective.rank() > 0 || Restorer.candidates(folder).isEmpty());
      if (!isOwn) {
        throw foreign(folder, "checkpoint.dir");
      }
    }
  }

  static ConfigException foreign(Path folder, String key) {
    return new ConfigException(
        key,
        "%s holds checkpoints of another run; name another folder, or go on from them with --resume"
            .formatted(folder));
  }

  /**
   * Makes way for a run that goes on from a checkpoint: what lies behind it in this run's folder is
   * put aside; all ranks call it together.
   *
   * @param whose identity of the run from now on
   * @param companions adds to what is put aside
   */
  void goOnFrom(SavedCheckpoint checkpoint, String whose, Consumer<Path> companions) {
    var own = folder.toAbsolutePath().normalize();
    var from = checkpoint.folder().toAbsolutePath().normalize();
    isOwn = isOn && allSay(from.startsWith(own));
    run = whose;
    if (isOwn && collective.rank() == 0) {
      // Of those among which it was put aside once, it is not known which ones came before it.
      boolean isBeside = own.equals(from.getParent());
      var position = checkpoint.position();
      checkpointer
          .putAside(it -> !isBeside || it.compareTo(position) > 0, companions)
          .ifPresent(aside -> noteAside(aside, position));
    }
  }

  private void noteAside(Path aside, Position position) {
    events.on(
        new TrainingEvent.Noted(
            "the run goes on after update %d: what was saved behind it is put aside in %s"
                .formatted(position.updates(), aside)));
  }

  /** Tells whether checkpoints can be saved. */
  boolean isOn() {
    return isOn;
  }

  private boolean allSay(boolean yes) {
    try (var _ = TensorScope.open()) {
      var objections = Tensors.ofLongs(yes ? 0 : 1);
      collective.allReduce(objections, Reduction.MAX, Traffic.START).await();
      return objections.item_long() == 0;
    }
  }

  /** Copies the state and has it written; all ranks call it together. */
  void save(Position position, Map<String, String> facts, List<Stateful> parts) {
    requireOwnFolder();
    await();
    Optional<String> failure = begin(position);
    collective.barrier();
    checkpointer.save(position, run, facts, parts);
    if (!settings.async()) {
      Optional<String> writing = checkpointer.await();
      handle(failure.or(() -> writing));
      collective.barrier();
    } else {
      handle(failure);
    }
  }

  private Optional<String> begin(Position position) {
    if (collective.rank() > 0) {
      return Optional.empty();
    }
    try {
      checkpointer.begin(position);
      return Optional.empty();
    } catch (IOException e) {
      return Optional.of(CheckpointException.reason(e));
    }
  }

  /** Waits until the last save is committed, or has failed. */
  void await() {
    handle(checkpointer.await());
  }

  void keepBest(Position position) {
    checkpointer.keepBest(position);
  }

  void distrust(Path checkpoint) {
    checkpointer.distrust(checkpoint);
  }

  private void handle(Optional<String> failure) {
    if (failure.isEmpty()) {
      return;
    }
    var text = "no checkpoint was saved in %s: %s".formatted(folder, failure.get());
    switch (settings.onError()) {
      case CONTINUE -> events.on(new TrainingEvent.Noted(text + "; training goes on"));
      case STOP -> throw new CheckpointException(text);
    }
  }

  @Override
  public void close() {
    resources.close();
  }
}
