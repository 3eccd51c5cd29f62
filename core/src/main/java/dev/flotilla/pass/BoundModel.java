package dev.flotilla.pass;

import dev.flotilla.arena.BufferArena;
import dev.flotilla.arena.Layout;
import dev.flotilla.arena.ParameterArena;
import dev.flotilla.arena.ParameterShare;
import dev.flotilla.arena.Section;
import dev.flotilla.memory.ComputeDevice;
import dev.flotilla.memory.Precision;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.model.Model;
import dev.flotilla.model.Objective;
import dev.flotilla.model.ParameterSpec;
import dev.flotilla.model.Segment;
import dev.flotilla.model.Weights;
import dev.flotilla.settings.ConfigException;
import dev.flotilla.state.RunState;
import dev.flotilla.state.State;
import dev.flotilla.state.Stateful;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SequencedMap;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.bytedeco.javacpp.Pointer;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.TensorOptional;
import org.jspecify.annotations.Nullable;

/**
 * A model with memory: its arenas, its frozen parameters and buffers, and its segments' functions.
 */
public final class BoundModel implements Weights, Stateful, AutoCloseable {

  private final Model model;
  private final Precision precision;
  private final ComputeDevice device;
  private final ParameterArena arena;
  private final BufferArena buffers;
  private final Map<String, Tensor> frozen = new LinkedHashMap<>();
  private final List<Pointer> owned = new ArrayList<>();
  private final List<Tensor> withoutGradient = new ArrayList<>();
  private final List<BoundPart> parts = new ArrayList<>();
  private final ChainCuts cuts;
  private final FirstValues firstValues;
  private final Predicate<String> stays;
  private ParameterGate gate = ParameterGate.OPEN;

  /**
   * Allocates and initialises all parameters and buffers and binds the segments.
   *
   * @param isFrozen names of parameters that are not trained
   */
  public BoundModel(Model model, Precision precision, long seed, Predicate<String> isFrozen) {
    this(model, precision, ComputeDevice.CPU, seed, isFrozen);
  }

  /**
   * Allocates and initialises all parameters and buffers on a device and binds the segments.
   *
   * @param isFrozen names of parameters that are not trained
   */
  public BoundModel(
      Model model,
      Precision precision,
      ComputeDevice device,
      long seed,
      Predicate<String> isFrozen) {
    this(model, precision, device, seed, isFrozen, null);
    fill(_ -> {});
  }

  /**
   * Allocates parameters and buffers on a device and binds the segments; {@link #fill} must follow.
   *
   * @param isFrozen names of parameters that are not trained, and of running statistics that stay
   * @param share what this rank keeps of the parameters, or null for all
   */
  public BoundModel(
      Model model,
      Precision precision,
      ComputeDevice device,
      long seed,
      Predicate<String> isFrozen,
      @Nullable ParameterShare share) {
    this.model = model;
    this.precision = precision;
    this.device = device;
    var parameters = model.parameters();
    stays = isFrozen.or(model.frozen()::contains);
    var layout = Layout.of(trainable(parameters, stays), precision);
    arena =
        share == null
            ? new ParameterArena(layout, device)
            : ParameterArena.inSections(layout, device, layout.segmentsOf(model), share);
    buffers = new BufferArena(model.buffers(), precision, device);
    var initialization = new Initialization(precision, seed);
    firstValues = new FirstValues(arena, initialization, device);
    try (var _ = TensorScope.open()) {
      for (var spec : parameters) {
        if (stays.test(spec.name())) {
          var tensor = device.empty(precision.scalarType(), spec.shape().toArray());
          frozen.put(spec.name(), TensorScope.keep(tensor));
        }
      }
      var constant = parameters.stream().filter(spec -> stays.test(spec.name())).toList();
      initialization.writeInto(constant, this::parameter);
      bind(model.segments());
    }
    cuts = new ChainCuts(model.segments(), parts);
  }

  /**
   * Gives the trainable parameters their first values: drawn from the seed, unless a module has
   * brought its own.
   *
   * @param more may change the values of each section before they count
   */
  public void fill(Consumer<Section> more) {
    firstValues.write(more);
  }

  private void bind(List<Segment> segments) {
    for (int i = 0; i < segments.size(); i++) {
      var bound = segments.get(i).bindParts(this);
      for (int j = 0; j < bound.size(); j++) {
        parts.add(new BoundPart(i, j, bound.get(j)));
      }
    }
  }

  /** Returns the layout a model would have, without allocating it. */
  public static Layout layoutOf(Model model, Precision precision, Predicate<String> isFrozen) {
    var stays = isFrozen.or(model.frozen()::contains);
    return Layout.of(trainable(model.parameters(), stays), precision);
  }

  private static List<ParameterSpec> trainable(
      List<ParameterSpec> parameters, Predicate<String> isFrozen) {
    return parameters.stream().filter(spec -> !isFrozen.test(spec.name())).toList();
  }

  /** Returns what was bound. */
  public Model model() {
    return model;
  }

  /** Lets somebody see to it that parameters are there when they are used. */
  public void gate(ParameterGate keeper) {
    gate = keeper;
  }

  /** Returns who sees to it that parameters are there. */
  public ParameterGate gate() {
    return gate;
  }

  /** Returns the trainable parameters and their gradients. */
  public ParameterArena arena() {
    return arena;
  }

  /** Returns running statistics and counters. */
  public BufferArena buffers() {
    return buffers;
  }

  /** Returns the parts of all segments in forward order. */
  public List<BoundPart> parts() {
    return Collections.unmodifiableList(parts);
  }

  /** Returns the names of the segments in forward order. */
  public List<String> segmentNames() {
    return model.segments().stream().map(Segment::name).toList();
  }

  /** Returns where the chain of parts can be cut. */
  public ChainCuts cuts() {
    return cuts;
  }

  /** Returns the number of parameters, frozen ones included. */
  public long parameterCount() {
    return model.parameterCount();
  }

  /** Returns what the model is trained for. */
  public Objective objective() {
    return model.objective();
  }

  /** Returns where parameters and activations live. */
  public ComputeDevice device() {
    return device;
  }

  /** Returns the dtype of parameters and activations. */
  public Precision precision() {
    return precision;
  }

  /** Returns the frozen parameters by name. */
  public Map<String, Tensor> frozen() {
    return frozen;
  }

  /** Returns all parameters and buffers in name order: what a published model file holds. */
  public SequencedMap<String, Tensor> state() {
    gate.requireAll();
    return stateInSections();
  }

  /**
   * Returns what {@link #state} does, where perhaps not all parameters have values: see {@link
   * #bring}.
   */
  public SequencedMap<String, Tensor> stateInSections() {
    var state = new TreeMap<String, Tensor>(arena.weights());
    state.putAll(frozen);
    state.putAll(buffers.buffers());
    return state;
  }

  /** Brings the values of one parameter; those of others may go. All ranks call it together. */
  public void bring(String name) {
    arena.layout().slots().stream()
        .filter(slot -> slot.spec().name().equals(name))
        .flatMap(slot -> arena.sections().stream().filter(it -> it.range().holds(slot.range())))
        .forEach(gate::enterSection);
  }

  /** Tells whether all parameters have values on this rank. */
  public boolean hasAllParameters() {
    return gate.hasAll();
  }

  @Override
  public Tensor parameter(String name) {
    return required(name, arena.parameters().getOrDefault(name, frozen.get(name)));
  }

  @Override
  public Tensor buffer(String name) {
    return required(name, buffers.buffers().get(name));
  }

  private static Tensor required(String name, @Nullable Tensor tensor) {
    return Objects.requireNonNull(tensor, () -> "the model states no parameter or buffer " + name);
  }

  @Override
  public TensorOptional optional(String name) {
    return own(new TensorOptional(parameter(name)));
  }

  @Override
  public boolean isFrozen(String name) {
    return stays.test(name);
  }

  @Override
  public void adoptParameter(String name, Tensor parameter) {
    var constant = frozen.get(name);
    if (constant == null) {
      arena.adopt(name, parameter);
      firstValues.areBrought(name);
      return;
    }
    try (var values = parameter.detach()) {
      constant.copy_(values);
    }
    if (parameter.requires_grad()) {
      parameter.set_requires_grad(false);
      withoutGradient.add(TensorScope.keep(new Tensor(parameter)));
    }
    parameter.set_data(constant);
  }

  @Override
  public void adoptBuffer(String name, Tensor buffer) {
    if (arena.isHalf() && isStatistic(name)) {
      throw new ConfigException(
          "model",
          ("%s is float32, but parameters have 16 bits, and the norm of a module takes one type"
                  + " for both; keep parameters in float32, or write the model in segments, with"
                  + " Weights.inFloat32 for its norms")
              .formatted(name));
    }
    buffers.adopt(name, buffer);
  }

  private boolean isStatistic(String name) {
    return model.buffers().stream().anyMatch(it -> it.isStatistic() && it.name().equals(name));
  }

  @Override
  public <P extends Pointer> P own(P constant) {
    owned.add(TensorScope.keep(constant));
    return constant;
  }

  /** Parameters only: buffers are the business of {@link RunningStatistics}. */
  @Override
  public void remember(RunState state) {
    remember(state.weights(), !state.isSaving());
  }

  /** Puts down all parameters under their names; all ranks call it together. */
  public void publish(State weights) {
    remember(weights, false);
  }

  private void remember(State weights, boolean changes) {
    gate.forEachSection(arena.sections(), changes, section -> remember(section, weights));
    frozen.forEach(weights::tensor);
  }

  private void remember(Section section, State weights) {
    try (var _ = TensorScope.open()) {
      for (var slot : arena.layout().in(section.range())) {
        var name = slot.spec().name();
        weights.tensor(name, required(name, arena.weights().get(name)).detach());
      }
    }
  }

  @Override
  public void close() {
    // The next trainer of a user's module may want to train what this one was told to leave.
    withoutGradient.forEach(parameter -> parameter.set_requires_grad(true));
    withoutGradient.forEach(TensorScope::free);
    owned.forEach(TensorScope::free);
    frozen.values().forEach(TensorScope::free);
    buffers.close();
    arena.close();
  }
}
