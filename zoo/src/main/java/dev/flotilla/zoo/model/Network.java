package dev.flotilla.zoo.model;

import dev.flotilla.data.SampleForm;
import dev.flotilla.model.Objective;
import dev.flotilla.model.Segment;
import java.util.List;
import java.util.Map;

/** What models of one family are made of, whatever they are called. */
public interface Network {

  /** Returns its segments in forward order. */
  List<Segment> segments();

  /** Returns what it is trained for. */
  Objective objective();

  /** Refuses samples that cannot go through. */
  void checkSamples(SampleForm form);

  /**
   * Tells whether passes may be recorded, as {@link dev.flotilla.model.Model#isRecordable} does.
   */
  default boolean isRecordable() {
    return false;
  }

  /** Returns other names of parameters. */
  default Map<String, String> aliases() {
    return Map.of();
  }

  /** Returns what others read to load its weights. */
  default Map<String, Object> configuration() {
    return Map.of();
  }
}
