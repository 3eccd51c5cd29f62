package dev.flotilla.step;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;

/** A micro-step in a recording of Java's Flight Recorder; costs nothing where none is made. */
@Name("dev.flotilla.Step")
@Label("Training Step")
@Description("Forward and backward of a micro-batch, with exchange and update at a boundary")
@Category("Flotilla")
@StackTrace(false)
final class StepEvent extends Event {

  @Label("Micro-Step")
  long microStep;

  @Label("Updates Made")
  long updates;

  @Label("Samples on This Rank")
  int samples;

  @Label("Ends Its Window")
  boolean boundary;

  @Label("Updated Parameters")
  boolean updated;
}
