package dev.flotilla.exchange;

import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Timespan;

/**
 * The end of a window's exchange in a recording of Java's Flight Recorder; its duration is what the
 * training thread has waited.
 */
@Name("dev.flotilla.Exchange")
@Label("Gradient Exchange")
@Description("From the end of backward until all buckets of a window are reduced")
@Category("Flotilla")
@StackTrace(false)
final class ExchangeEvent extends Event {

  @Label("Buckets")
  int buckets;

  @Label("Gradients")
  @DataAmount
  long bytes;

  @Label("Buckets Under Way")
  @Timespan(Timespan.NANOSECONDS)
  long busy;

  @Label("Hidden Behind Backward")
  @Timespan(Timespan.NANOSECONDS)
  long hidden;

  /** Says what was exchanged, and commits. */
  void end(ExchangeTimes times, int bytesPerElement) {
    buckets = times.buckets().size();
    bytes = times.buckets().stream().mapToLong(it -> it.bucket().length()).sum() * bytesPerElement;
    busy = times.busy();
    hidden = times.hidden();
    commit();
  }
}
