package dev.flotilla.model;

import dev.flotilla.memory.TensorScope;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiFunction;
import org.bytedeco.pytorch.Module;
import org.bytedeco.pytorch.StringTensorDict;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;

/** A user's own module as a model of one segment. */
final class ModuleModel implements Model {

  private final Module module;
  private final BiFunction<Tensor, ForwardMode, Tensor> forward;
  private final Objective objective;
  private final List<ParameterSpec> parameters = new ArrayList<>();
  private final List<BufferSpec> buffers = new ArrayList<>();

  ModuleModel(Module module, BiFunction<Tensor, ForwardMode, Tensor> forward, Objective objective) {
    this.module = module;
    this.forward = forward;
    this.objective = objective;
    try (var _ = TensorScope.open()) {
      describe(module.named_parameters(), module.named_buffers());
    }
  }

  private void describe(StringTensorDict namedParameters, StringTensorDict namedBuffers) {
    for (long i = 0; i < namedParameters.size(); i++) {
      var item = namedParameters.get(i);
      var shape = Shape.of(item.value().shape());
      parameters.add(
          new ParameterSpec(
              item.key().getString(), shape, kindOf(shape), new Initializer.Constant(0)));
    }
    for (long i = 0; i < namedBuffers.size(); i++) {
      var item = namedBuffers.get(i);
      var shape = Shape.of(item.value().shape());
      boolean counter = item.value().scalar_type().intern() == torch.ScalarType.Long;
      buffers.add(new BufferSpec(item.key().getString(), shape, counter, 0));
    }
  }

  /** A module does not tell biases from norms; what has one axis is not decayed by default. */
  private static ParameterSpec.Kind kindOf(Shape shape) {
    return shape.dimensions().size() > 1 ? ParameterSpec.Kind.WEIGHT : ParameterSpec.Kind.BIAS;
  }

  @Override
  public String name() {
    return module.getClass().getSimpleName();
  }

  @Override
  public List<Segment> segments() {
    return List.of(new WholeModule());
  }

  @Override
  public Objective objective() {
    return objective;
  }

  private final class WholeModule implements Segment {

    @Override
    public String name() {
      return "module";
    }

    @Override
    public List<ParameterSpec> parameters() {
      return parameters;
    }

    @Override
    public List<BufferSpec> buffers() {
      return buffers;
    }

    @Override
    public Forward bind(Weights weights) {
      try (var _ = TensorScope.open()) {
        var namedParameters = module.named_parameters();
        parameters.forEach(
            spec -> weights.adoptParameter(spec.name(), namedParameters.get(spec.name())));
        var namedBuffers = module.named_buffers();
        buffers.forEach(spec -> weights.adoptBuffer(spec.name(), namedBuffers.get(spec.name())));
      }
      return (input, mode) -> {
        if (module.is_training() != mode.isTraining()) {
          module.train(mode.isTraining());
        }
        return Activations.of(forward.apply(input.only(), mode));
      };
    }
  }
}
