package dev.flotilla.report;

/** Takes events; called on the training thread, so it must be quick. */
@FunctionalInterface
public interface EventSink {

  /** Takes one event. */
  void on(TrainingEvent event);

  /**
   * Returns a sink that writes warnings and notices to the {@link System.Logger} {@code
   * dev.flotilla}, and nothing else; Java's own prints them to standard error.
   */
  static EventSink toLog() {
    return new LogSink();
  }

  /** Returns a sink that passes each event to both. */
  default EventSink and(EventSink other) {
    return event -> {
      on(event);
      other.on(event);
    };
  }
}
