package dev.flotilla.zoo.model;

import dev.flotilla.data.SampleForm;
import dev.flotilla.model.Model;
import dev.flotilla.model.Objective;
import dev.flotilla.model.Segment;
import java.util.List;
import java.util.Map;

/** A model by settings, which is a network of a family. */
interface NetworkModel extends Model {

  /** Makes the network of the settings. */
  Network network();

  @Override
  default List<Segment> segments() {
    return network().segments();
  }

  @Override
  default Objective objective() {
    return network().objective();
  }

  @Override
  default boolean isRecordable() {
    return network().isRecordable();
  }

  @Override
  default Map<String, String> aliases() {
    return network().aliases();
  }

  @Override
  default Map<String, Object> configuration() {
    return network().configuration();
  }

  @Override
  default void checkSamples(SampleForm form) {
    network().checkSamples(form);
  }
}
