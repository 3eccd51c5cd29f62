package dev.flotilla.control;

/** A link to nobody. */
final class NoLink implements JobLink {

  private final FlightRecorder collectives = FlightRecorder.inMemory();

  @Override
  public void begin(long microStep, long updates) {}

  @Override
  public boolean stopsAfter(long microStep) {
    return false;
  }

  @Override
  public void doing(String activity) {}

  @Override
  public FlightRecorder collectives() {
    return collectives;
  }

  @Override
  public void close() {}
}
