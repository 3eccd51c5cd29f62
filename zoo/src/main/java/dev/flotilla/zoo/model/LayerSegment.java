package dev.flotilla.zoo.model;

import dev.flotilla.model.Activations;
import dev.flotilla.model.BufferSpec;
import dev.flotilla.model.ParameterSpec;
import dev.flotilla.model.Segment;
import dev.flotilla.model.Weights;
import java.util.List;

/**
 * Layers one after the other as a segment.
 *
 * @param name what recipes and reports call it
 * @param layers what it does
 */
record LayerSegment(String name, Layers layers) implements Segment {

  @Override
  public List<ParameterSpec> parameters() {
    return layers.parameters();
  }

  @Override
  public List<BufferSpec> buffers() {
    return layers.buffers();
  }

  @Override
  public Forward bind(Weights weights) {
    var bound = layers.bind(weights);
    return (input, mode) -> Activations.of(bound.apply(input.only(), mode));
  }
}
