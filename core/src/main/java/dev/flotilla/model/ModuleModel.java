package dev.flotilla.model;

import dev.flotilla.memory.TensorScope;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.stream.Collectors;
import org.bytedeco.pytorch.Module;
import org.bytedeco.pytorch.StringTensorDict;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;

/** A user's own module as a model of one segment. */
final class ModuleModel implements Model {

  private static final Set<String> STATISTICS = Set.of("running_mean", "running_var");
  private static final String COUNTER = "num_batches_tracked";

  private final Module module;
  private final BiFunction<Tensor, ForwardMode, Tensor> forward;
  private final Objective objective;
  private final List<ParameterSpec> parameters = new ArrayList<>();
  private final List<BufferSpec> buffers = new ArrayList<>();
  private final Map<String, String> aliases = new LinkedHashMap<>();

  ModuleModel(Module module, BiFunction<Tensor, ForwardMode, Tensor> forward, Objective objective) {
    this.module = module;
    this.forward = forward;
    this.objective = objective;
    try (var _ = TensorScope.open()) {
      describe(module.named_parameters(), module.named_buffers());
    }
  }

  private void describe(StringTensorDict namedParameters, StringTensorDict namedBuffers) {
    var known = new KnownTensors();
    for (long i = 0; i < namedParameters.size(); i++) {
      var item = namedParameters.get(i);
      var name = item.key().getString();
      if (!isTied(known.firstNameOf(item.value(), name), name)) {
        var shape = Shape.of(item.value().shape());
        parameters.add(new ParameterSpec(name, shape, kindOf(shape), new Initializer.Constant(0)));
      }
    }
    for (long i = 0; i < namedBuffers.size(); i++) {
      var item = namedBuffers.get(i);
      var name = item.key().getString();
      if (!isTied(known.firstNameOf(item.value(), name), name)) {
        var shape = Shape.of(item.value().shape());
        buffers.add(new BufferSpec(name, shape, kindOf(name, item.value()), 0));
      }
    }
  }

  private boolean isTied(String firstName, String name) {
    if (!firstName.equals(name)) {
      aliases.put(name, firstName);
    }
    return !firstName.equals(name);
  }

  /** libtorch has no word for statistics of batches but these names. */
  private static BufferSpec.Kind kindOf(String name, Tensor buffer) {
    var last = name.substring(name.lastIndexOf('.') + 1);
    if (buffer.is_floating_point() && STATISTICS.contains(last)) {
      return BufferSpec.Kind.STATISTIC;
    }
    return last.equals(COUNTER) && buffer.scalar_type().intern() == torch.ScalarType.Long
        ? BufferSpec.Kind.COUNTER
        : BufferSpec.Kind.OTHER;
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

  @Override
  public Map<String, String> aliases() {
    return Map.copyOf(aliases);
  }

  @Override
  public Set<String> frozen() {
    try (var _ = TensorScope.open()) {
      var named = module.named_parameters();
      Set<String> frozen = new HashSet<>();
      for (var spec : parameters) {
        if (!named.get(spec.name()).requires_grad()) {
          frozen.add(spec.name());
        }
      }
      return frozen;
    }
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
      var frozenNorms = frozenNorms(weights);
      return (input, mode) -> {
        if (module.is_training() != mode.isTraining()) {
          module.train(mode.isTraining());
          frozenNorms.forEach(Module::eval);
        }
        return Activations.of(forward.apply(input.only(), mode));
      };
    }

    /** Returns the modules whose running statistics stay as they are. */
    private List<Module> frozenNorms(Weights weights) {
      var owners =
          buffers.stream()
              .filter(BufferSpec::isStatistic)
              .filter(buffer -> weights.isFrozen(buffer.name()))
              .map(BufferSpec::layer)
              .collect(Collectors.toSet());
      List<Module> found = new ArrayList<>();
      if (!owners.isEmpty()) {
        module.train(false);
        var modules = weights.own(module.named_modules("", false));
        for (long i = 0; i < modules.size(); i++) {
          if (owners.contains(modules.get(i).key().getString())) {
            found.add(weights.own(modules.get(i).value()));
          }
        }
      }
      return found;
    }
  }
}
