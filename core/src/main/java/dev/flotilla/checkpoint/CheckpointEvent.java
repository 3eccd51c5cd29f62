package dev.flotilla.checkpoint;

import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;

/** The saving of this rank's part of a checkpoint in a recording of Java's Flight Recorder. */
@Name("dev.flotilla.Checkpoint")
@Label("Checkpoint")
@Description("Copying the state while training waits, or writing it")
@Category("Flotilla")
@StackTrace(false)
final class CheckpointEvent extends Event {

  @Label("Phase")
  @Description("copy: training waits for it; write: files, and on rank 0 the commit")
  String phase;

  @Label("Updates Made")
  long updates;

  @Label("State")
  @DataAmount
  long bytes;

  @Label("Succeeded")
  boolean succeeded;

  CheckpointEvent(String phase, Position position) {
    this.phase = phase;
    this.updates = position.updates();
    begin();
  }

  /** Says what was copied or written, and commits. */
  void end(long ofState, boolean isWell) {
    if (shouldCommit()) {
      bytes = ofState;
      succeeded = isWell;
      commit();
    }
  }
}
