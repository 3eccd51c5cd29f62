package dev.flotilla.bench;

import dev.flotilla.model.Activations;
import dev.flotilla.model.Classification;
import dev.flotilla.model.Model;
import dev.flotilla.model.Objective;
import dev.flotilla.model.ParameterSpec;
import dev.flotilla.model.Segment;
import dev.flotilla.model.Shape;
import dev.flotilla.model.Weights;
import java.util.ArrayList;
import java.util.List;
import org.bytedeco.pytorch.TensorOptional;
import org.bytedeco.pytorch.global.torch;

/**
 * A net whose activations dominate its memory: layers of 3×3 convolutions over 32×32 images, then
 * means over the image and a linear head.
 *
 * @param layers number of convolutions
 * @param channels channels of each
 */
record WideNet(int layers, int channels) implements Model {

  @Override
  public String name() {
    return "wide";
  }

  @Override
  public List<Segment> segments() {
    List<Segment> segments = new ArrayList<>();
    for (int i = 0; i < layers; i++) {
      segments.add(new Convolution("conv" + (i + 1), i == 0 ? 1 : channels, channels));
    }
    segments.add(new Head(channels));
    return segments;
  }

  @Override
  public Objective objective() {
    return new Classification();
  }

  private record Convolution(String name, long inputs, long outputs) implements Segment {

    private static final long[] ONE = {1, 1};

    @Override
    public List<ParameterSpec> parameters() {
      return List.of(
          ParameterSpec.weight(name + ".weight", Shape.of(outputs, inputs, 3, 3), inputs * 9));
    }

    @Override
    public Forward bind(Weights weights) {
      var weight = weights.parameter(name + ".weight");
      var noBias = weights.own(new TensorOptional());
      return (input, _) ->
          Activations.of(torch.conv2d(input.only(), weight, noBias, ONE, ONE, ONE, 1).relu());
    }
  }

  private record Head(long inputs) implements Segment {

    @Override
    public String name() {
      return "head";
    }

    @Override
    public List<ParameterSpec> parameters() {
      return List.of(ParameterSpec.weight("head.weight", Shape.of(10, inputs), inputs));
    }

    @Override
    public Forward bind(Weights weights) {
      var weight = weights.parameter("head.weight");
      return (input, _) ->
          Activations.of(torch.linear(input.only().flatten(2, -1).mean(new long[] {2}), weight));
    }
  }
}
