package dev.flotilla.train;

import dev.flotilla.checkpoint.CheckpointException;
import dev.flotilla.checkpoint.Checkpointer;
import dev.flotilla.checkpoint.Position;
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

/** Saves the checkpoints of a trainer, together with the other ranks. */
final class Saves implements AutoCloseable {

  /** A rank may be writing its last checkpoint while the others wait for it to begin the next. */
  private static final Duration LONGEST_WAIT = Duration.ofMinutes(10);

  private final CheckpointSettings settings;
  private final Collective collective;
  private final EventSink events;
  private final Checkpointer checkpointer;

  /** Takes possession of the folder; all ranks call it together. */
  Saves(CheckpointSettings settings, Collective collective, EventSink events) {
    this.settings = settings;
    this.collective = collective.withTimeout(LONGEST_WAIT);
    this.events = events;
    this.checkpointer =
        new Checkpointer(
            settings.folder(),
            collective.rank(),
            collective.size(),
            settings.keep(),
            commonWriter());
    takeFolder();
  }

  /** Returns a text that all ranks of this attempt share, and no other attempt has. */
  private String commonWriter() {
    try (var _ = TensorScope.open()) {
      var token = Tensors.ofLongs(new SecureRandom().nextLong());
      collective.broadcast(token, 0, Traffic.START).await();
      return Long.toHexString(token.item_long());
    }
  }

  private void takeFolder() {
    if (collective.rank() == 0) {
      checkpointer.takeFolder();
    }
    collective.barrier();
    if (!allSay(checkpointer.seesFolder())) {
      checkpointer.close();
      throw new ConfigException(
          "checkpoint.dir",
          "%s is not the same folder on all hosts; name one that they share"
              .formatted(settings.folder().toAbsolutePath()));
    }
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
    await();
    Optional<String> failure = begin(position);
    collective.barrier();
    checkpointer.save(position, facts, parts);
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

  void distrust(Path checkpoint) {
    checkpointer.distrust(checkpoint);
  }

  private void handle(Optional<String> failure) {
    if (failure.isEmpty()) {
      return;
    }
    var text = "no checkpoint was saved in %s: %s".formatted(settings.folder(), failure.get());
    switch (settings.onError()) {
      case CONTINUE -> events.on(new TrainingEvent.Noted(text + "; training goes on"));
      case STOP -> throw new CheckpointException(text);
    }
  }

  @Override
  public void close() {
    checkpointer.close();
  }
}
