package dev.flotilla.arena;

import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;

/** The allocation of an arena in a recording of Java's Flight Recorder. */
@Name("dev.flotilla.Arena")
@Label("Arena")
@Description("Memory of parameters and gradients, when it is allocated")
@Category("Flotilla")
@StackTrace(false)
final class ArenaEvent extends Event {

  @Label("Device")
  String device;

  @Label("Tensors")
  int tensors;

  @Label("Sections")
  int sections;

  @Label("Parameters")
  @DataAmount
  long parameterBytes;

  @Label("Kept by This Rank")
  @DataAmount
  long keptBytes;

  @Label("Bytes per Element")
  int bytesPerElement;

  ArenaEvent(String device, Layout layout) {
    this.device = device;
    bytesPerElement = layout.precision().bytes();
    tensors = layout.slots().size();
    parameterBytes = layout.bytes();
    begin();
  }

  /** Says what this rank has allocated of it, and commits. */
  void end(int inSections, long keptElements) {
    if (shouldCommit()) {
      sections = inSections;
      keptBytes = keptElements * bytesPerElement;
      commit();
    }
  }
}
