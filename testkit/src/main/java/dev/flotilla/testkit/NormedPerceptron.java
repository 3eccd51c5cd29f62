package dev.flotilla.testkit;

import dev.flotilla.model.Activations;
import dev.flotilla.model.BatchStatistics;
import dev.flotilla.model.BufferSpec;
import dev.flotilla.model.Classification;
import dev.flotilla.model.ForwardMode;
import dev.flotilla.model.Initializer;
import dev.flotilla.model.Model;
import dev.flotilla.model.Objective;
import dev.flotilla.model.ParameterSpec;
import dev.flotilla.model.Part;
import dev.flotilla.model.PartedSegment;
import dev.flotilla.model.Segment;
import dev.flotilla.model.Shape;
import dev.flotilla.model.Weights;
import java.util.List;
import java.util.function.Supplier;
import org.bytedeco.pytorch.Scalar;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.TensorOptional;
import org.bytedeco.pytorch.global.torch;

/**
 * The smallest model with a BatchNorm that can be pooled: linear, BatchNorm, max(0, ·), linear.
 *
 * @param inputs numbers per sample
 * @param width channels of the BatchNorm
 * @param classes number of classes
 */
public record NormedPerceptron(long inputs, long width, long classes) implements Model {

  private static final double MOMENTUM = 0.1;
  private static final double EPSILON = 1e-5;

  @Override
  public String name() {
    return "normed_perceptron";
  }

  @Override
  public List<Segment> segments() {
    return List.of(new Linear("fc1", inputs, width), new NormedLinear(width, classes));
  }

  @Override
  public Objective objective() {
    return new Classification();
  }

  private record Linear(String name, long inputs, long outputs) implements Segment {

    @Override
    public List<ParameterSpec> parameters() {
      return List.of(
          ParameterSpec.weight(name + ".weight", Shape.of(outputs, inputs), inputs),
          ParameterSpec.bias(name + ".bias", outputs, inputs));
    }

    @Override
    public Forward bind(Weights weights) {
      Tensor weight = weights.parameter(name + ".weight");
      var bias = weights.optional(name + ".bias");
      return (input, _) -> Activations.of(torch.linear(input.only(), weight, bias));
    }
  }

  private record NormedLinear(long width, long classes) implements PartedSegment {

    @Override
    public String name() {
      return "fc2";
    }

    @Override
    public List<ParameterSpec> parameters() {
      return List.of(
          new ParameterSpec(
              "bn.weight", Shape.of(width), ParameterSpec.Kind.NORM, new Initializer.Constant(1)),
          new ParameterSpec(
              "bn.bias", Shape.of(width), ParameterSpec.Kind.NORM, new Initializer.Constant(0)),
          ParameterSpec.weight("fc2.weight", Shape.of(classes, width), width),
          ParameterSpec.bias("fc2.bias", classes, width));
    }

    @Override
    public List<BufferSpec> buffers() {
      return List.of(
          new BufferSpec("bn.running_mean", Shape.of(width), BufferSpec.Kind.STATISTIC, 0),
          new BufferSpec("bn.running_var", Shape.of(width), BufferSpec.Kind.STATISTIC, 1),
          new BufferSpec("bn.num_batches_tracked", Shape.of(), BufferSpec.Kind.COUNTER, 0));
    }

    @Override
    public List<Part> bindParts(Weights weights) {
      var norm = new Norm(weights);
      Tensor weight = weights.parameter("fc2.weight");
      var bias = weights.optional("fc2.bias");
      Forward forward =
          (input, mode) ->
              Activations.of(torch.linear(norm.apply(input.only(), mode).relu(), weight, bias));
      return List.of(new Part("fc2", List.of(new Part.Pooled(0, norm.statistics)), forward));
    }
  }

  /** The BatchNorm, by its batch's statistics or by given ones. */
  private static final class Norm {

    private final Tensor scale;
    private final Tensor offset;
    private final Supplier<TensorOptional> gamma;
    private final Supplier<TensorOptional> beta;
    private final TensorOptional mean;
    private final TensorOptional variance;
    private final TensorOptional none;
    private final Tensor batches;
    private final BatchStatistics statistics;

    Norm(Weights weights) {
      scale = weights.parameter("bn.weight");
      offset = weights.parameter("bn.bias");
      gamma = weights.inFloat32("bn.weight");
      beta = weights.inFloat32("bn.bias");
      Tensor runningMean = weights.buffer("bn.running_mean");
      Tensor runningVariance = weights.buffer("bn.running_var");
      mean = weights.own(new TensorOptional(runningMean));
      variance = weights.own(new TensorOptional(runningVariance));
      none = weights.own(new TensorOptional());
      batches = weights.buffer("bn.num_batches_tracked");
      statistics = new BatchStatistics(runningMean, runningVariance, batches, MOMENTUM);
    }

    Tensor apply(Tensor input, ForwardMode mode) {
      if (statistics.areGiven() && mode.isTraining()) {
        Tensor inverse = statistics.variance().add(new Scalar(EPSILON)).rsqrt();
        return input.sub(statistics.mean()).mul(inverse.mul(scale)).add(offset);
      }
      boolean isRecomputed = mode == ForwardMode.RECOMPUTE;
      if (mode == ForwardMode.TRAIN) {
        batches.add_(new Scalar(1));
      }
      return torch.batch_norm(
          input,
          gamma.get(),
          beta.get(),
          isRecomputed ? none : mean,
          isRecomputed ? none : variance,
          mode.isTraining(),
          MOMENTUM,
          EPSILON,
          true);
    }
  }
}
