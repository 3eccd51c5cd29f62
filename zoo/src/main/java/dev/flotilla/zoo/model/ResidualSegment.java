package dev.flotilla.zoo.model;

import dev.flotilla.model.Activations;
import dev.flotilla.model.BufferSpec;
import dev.flotilla.model.ParameterSpec;
import dev.flotilla.model.Segment;
import dev.flotilla.model.Weights;
import java.util.List;
import java.util.stream.Stream;
import org.bytedeco.pytorch.Tensor;

/**
 * max(0, main(x) + shortcut(x)): a block of a residual network.
 *
 * @param name what recipes and reports call it
 * @param main the layers that learn
 * @param shortcut makes the input fit the output; empty where it does already
 */
record ResidualSegment(String name, Layers main, Layers shortcut) implements Segment {

  @Override
  public List<ParameterSpec> parameters() {
    return Stream.of(main, shortcut).flatMap(part -> part.parameters().stream()).toList();
  }

  @Override
  public List<BufferSpec> buffers() {
    return Stream.of(main, shortcut).flatMap(part -> part.buffers().stream()).toList();
  }

  @Override
  public Forward bind(Weights weights) {
    var boundMain = main.bind(weights);
    var boundShortcut = shortcut.bind(weights);
    return (input, mode) -> {
      Tensor x = input.only();
      Tensor y = boundMain.apply(x, mode);
      return Activations.of(y.add_(boundShortcut.apply(x, mode)).relu_());
    };
  }
}
