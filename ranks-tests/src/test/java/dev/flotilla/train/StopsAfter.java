package dev.flotilla.train;

import dev.flotilla.control.FlightRecorder;
import dev.flotilla.control.JobLink;

/** Asks for a stop after a micro-step, as all ranks of a job would agree on. */
final class StopsAfter implements JobLink {

  private final long microStep;
  private final JobLink silent = JobLink.none();

  StopsAfter(long microStep) {
    this.microStep = microStep;
  }

  @Override
  public void begin(long index, long updates) {}

  @Override
  public boolean stopsAfter(long index) {
    return index >= microStep;
  }

  @Override
  public void doing(String activity) {}

  @Override
  public FlightRecorder collectives() {
    return silent.collectives();
  }

  @Override
  public void close() {}
}
