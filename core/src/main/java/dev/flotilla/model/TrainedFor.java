package dev.flotilla.model;

import dev.flotilla.data.SampleForm;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * A model with another objective than its own.
 *
 * @param model everything else
 * @param objective what it is trained for
 */
record TrainedFor(Model model, Objective objective) implements Model {

  @Override
  public String name() {
    return model.name();
  }

  @Override
  public List<Segment> segments() {
    return model.segments();
  }

  @Override
  public void checkSamples(SampleForm form) {
    model.checkSamples(form);
  }

  @Override
  public List<ParameterSpec> parameters() {
    return model.parameters();
  }

  @Override
  public List<BufferSpec> buffers() {
    return model.buffers();
  }

  @Override
  public Map<String, String> aliases() {
    return model.aliases();
  }

  @Override
  public Map<String, Object> configuration() {
    return model.configuration();
  }

  @Override
  public Set<String> frozen() {
    return model.frozen();
  }

  @Override
  public long parameterCount() {
    return model.parameterCount();
  }
}
