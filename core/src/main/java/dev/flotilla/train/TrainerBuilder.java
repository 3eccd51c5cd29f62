package dev.flotilla.train;

import dev.flotilla.collective.Collective;
import dev.flotilla.collective.CollectiveSettings;
import dev.flotilla.collective.GpuBackend;
import dev.flotilla.memory.CpuThreads;
import dev.flotilla.memory.DeviceChoice;
import dev.flotilla.memory.Precision;
import dev.flotilla.metric.Metric;
import dev.flotilla.model.Model;
import dev.flotilla.optim.Constant;
import dev.flotilla.optim.GroupSettings;
import dev.flotilla.optim.Groups;
import dev.flotilla.optim.Optimizer;
import dev.flotilla.optim.Schedule;
import dev.flotilla.optim.ScheduleUnit;
import dev.flotilla.report.EventSink;
import dev.flotilla.report.tensorboard.TensorBoard;
import dev.flotilla.state.Stateful;
import dev.flotilla.strategy.PlanIssue;
import dev.flotilla.strategy.StepPlanner;
import dev.flotilla.strategy.Strategy;
import dev.flotilla.world.World;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** Collects what a {@link Trainer} needs; model and optimizer are required. */
public final class TrainerBuilder {

  private final World world;
  private final List<Strategy> strategies = new ArrayList<>();
  private final SortedMap<String, String> facts = new TreeMap<>();
  private @Nullable Model model;
  private @Nullable Optimizer optimizer;
  private Schedule schedule = new Constant();
  private ScheduleUnit scheduleUnit = ScheduleUnit.UPDATE;
  private Precision precision = Precision.FLOAT32;
  private DeviceChoice device = DeviceChoice.AUTO;
  private long seed = 42;
  private int threads;
  private CollectiveSettings collectiveSettings;
  private Predicate<String> frozen = _ -> false;
  private Predicate<String> frozenStatistics = _ -> false;
  private @Nullable Predicate<String> noDecay;
  private final List<GroupSettings> groups = new ArrayList<>();
  private double layerDecay = 1;
  private EventSink events = EventSink.toLog();
  private LoopSettings loop = LoopSettings.defaults();
  private OptionalInt microBatch = OptionalInt.empty();
  private UnaryOperator<Collective> wrapper = UnaryOperator.identity();
  private @Nullable CheckpointSettings checkpoints;
  private NonFinite nonFinite = NonFinite.STOP;
  private Optional<Every.Updates> compareEvery = Optional.of(Every.updates(100));
  private final List<Stateful> remembered = new ArrayList<>();
  private @Nullable InitialWeights initialWeights;
  private final List<PlanIssue> warnings = new ArrayList<>();
  private final List<Metric> metrics = new ArrayList<>();
  private @Nullable StopWhen stopWhen;
  private final List<Callback> callbacks = new ArrayList<>();
  private @Nullable RunFolder runFolder;
  private Optional<Every.Updates> histograms = Optional.empty();
  private @Nullable TensorBoard tensorBoard;

  TrainerBuilder(World world) {
    this.world = world;
    this.threads = world.threads(System.getenv(), CpuThreads.coresHere());
    this.collectiveSettings =
        CollectiveSettings.defaults().withBackend(GpuBackend.in(System.getenv()));
  }

  /** Returns the place among the ranks that the trainer is for. */
  public World world() {
    return world;
  }

  /** Sets what is trained. */
  public TrainerBuilder model(Model value) {
    model = value;
    return this;
  }

  /** Sets the update rule. */
  public TrainerBuilder optimizer(Optimizer value) {
    optimizer = value;
    return this;
  }

  /** Sets how the learning rate changes; constant by default. */
  public TrainerBuilder schedule(Schedule value) {
    schedule = value;
    return this;
  }

  /** Sets what the schedule counts; updates by default. */
  public TrainerBuilder schedulePer(ScheduleUnit value) {
    scheduleUnit = value;
    return this;
  }

  /** Adds techniques; their order never matters. */
  public TrainerBuilder strategy(Strategy... techniques) {
    strategies.addAll(List.of(techniques));
    return this;
  }

  /** Sets the dtype of parameters, gradients and activations; float32 by default. */
  public TrainerBuilder precision(Precision value) {
    precision = value;
    return this;
  }

  /** Sets where tensors live; by default on a GPU where there is one. */
  public TrainerBuilder device(DeviceChoice value) {
    device = value;
    return this;
  }

  /** Sets the seed of initialization and of everything random in the model. */
  public TrainerBuilder seed(long value) {
    seed = value;
    return this;
  }

  /**
   * Sets the threads of one operation; by default as {@link World#threads} says.
   *
   * @throws dev.flotilla.settings.ConfigException if it is not from 1 to 1024
   */
  public TrainerBuilder threads(int value) {
    CpuThreads.check(value).orThrow();
    threads = value;
    return this;
  }

  /** Sets the longest wait in a collective; 60 seconds by default. */
  public TrainerBuilder timeout(Duration value) {
    collectiveSettings = collectiveSettings.withTimeout(value);
    return this;
  }

  /** Sets the longest wait for the other ranks at the start; 60 seconds by default. */
  public TrainerBuilder joinTimeout(Duration value) {
    collectiveSettings = collectiveSettings.withJoinTimeout(value);
    return this;
  }

  /** Sets what carries tensors between GPUs; by default NCCL if each rank has one of its own. */
  public TrainerBuilder backend(GpuBackend value) {
    collectiveSettings = collectiveSettings.withBackend(value);
    return this;
  }

  /** Sets which parameters are not trained. */
  public TrainerBuilder freeze(Predicate<String> names) {
    frozen = names;
    return this;
  }

  /**
   * Sets which BatchNorms keep their running statistics, and normalise by them in training too, as
   * PyTorch's do after {@code eval()}; names are those of the layers, such as {@code layer1.0.bn1}.
   */
  public TrainerBuilder freezeStatistics(Predicate<String> names) {
    frozenStatistics = names;
    return this;
  }

  /** Sets which parameters are not decayed, instead of the optimizer's own rule. */
  public TrainerBuilder noDecay(@Nullable Predicate<String> names) {
    noDecay = names;
    return this;
  }

  /** Adds parameters with settings of their own; each belongs to one group at most. */
  public TrainerBuilder groups(GroupSettings... more) {
    groups.addAll(List.of(more));
    return this;
  }

  /**
   * Sets the factor on the learning rate from each segment to the one before it, in (0, 1]; groups
   * that state a rate keep theirs.
   */
  public TrainerBuilder layerDecay(double value) {
    layerDecay = value;
    return this;
  }

  /** Sets who is told what happens; by default warnings and notices go to the log. */
  public TrainerBuilder events(EventSink value) {
    events = value;
    return this;
  }

  /** Sets when {@code fit} logs and evaluates. */
  public TrainerBuilder loop(LoopSettings value) {
    loop = value;
    return this;
  }

  /**
   * Sets when {@code fit} logs and evaluates, from what is set so far: {@code loop(it ->
   * it.evaluateOn(test).each(Every.epoch()))}.
   */
  public TrainerBuilder loop(UnaryOperator<LoopSettings> change) {
    loop = change.apply(loop);
    return this;
  }

  /** Adds callbacks, which are called in this order; all ranks have the same. */
  public TrainerBuilder callbacks(Callback... more) {
    callbacks.addAll(List.of(more));
    return this;
  }

  /** Adds metrics that evaluations measure besides loss and accuracy. */
  public TrainerBuilder metrics(Metric... more) {
    metrics.addAll(List.of(more));
    return this;
  }

  /** Sets when {@code fit} ends early; by default never. */
  public TrainerBuilder stopWhen(@Nullable StopWhen value) {
    stopWhen = value;
    return this;
  }

  /** Says how many samples a micro-step has over all ranks, for settings that depend on it. */
  public TrainerBuilder microBatch(int samples) {
    microBatch = OptionalInt.of(samples);
    return this;
  }

  /** Wraps the group of ranks, for example to record or meter what passes through it. */
  public TrainerBuilder collective(UnaryOperator<Collective> value) {
    wrapper = value;
    return this;
  }

  /** Adds facts on which all ranks must agree before the first step. */
  public TrainerBuilder agreeOn(Map<String, String> more) {
    facts.putAll(more);
    return this;
  }

  /** Sets when {@code fit} saves checkpoints; by default never. */
  public TrainerBuilder checkpoints(@Nullable CheckpointSettings value) {
    checkpoints = value;
    return this;
  }

  /** Sets the weights that training starts from, instead of those that the seed draws. */
  public TrainerBuilder initialWeights(@Nullable InitialWeights value) {
    initialWeights = value;
    return this;
  }

  /** Sets the folder that tells of the run; on rank 0 alone. */
  public TrainerBuilder runFolder(@Nullable RunFolder value) {
    runFolder = value;
    return this;
  }

  /**
   * Writes histograms of gradients and weights after each so many updates; training is the same
   * with them and without.
   *
   * @param board where rank 0 writes them; null on other ranks
   */
  public TrainerBuilder histograms(long updates, @Nullable TensorBoard board) {
    histograms = Optional.of(Every.updates(updates));
    tensorBoard = board;
    return this;
  }

  /** Adds something of your own to what checkpoints hold. */
  public TrainerBuilder remember(Stateful part) {
    remembered.add(part);
    return this;
  }

  /** Sets what happens when a loss or gradient is not finite; by default the run stops. */
  public TrainerBuilder nonFinite(NonFinite value) {
    nonFinite = value;
    return this;
  }

  /** Sets after how many updates ranks compare their parameters; 100 by default. */
  public TrainerBuilder compareEvery(long updates) {
    compareEvery = Optional.of(Every.updates(updates));
    return this;
  }

  /** Lets ranks never compare their parameters. */
  public TrainerBuilder compareNever() {
    compareEvery = Optional.empty();
    return this;
  }

  /** Adds warnings that come from outside the techniques to those of the plan. */
  public TrainerBuilder warnOf(List<PlanIssue> issues) {
    warnings.addAll(issues);
    return this;
  }

  /**
   * Resolves the techniques without touching native code.
   *
   * @throws dev.flotilla.strategy.PlanRejectedException if they cannot work together
   */
  public StepPlanner.Plan plan() {
    return settings().plan();
  }

  /**
   * Joins the other ranks, allocates the model and makes everything ready for the first step.
   *
   * @throws dev.flotilla.strategy.PlanRejectedException if the techniques cannot work together
   * @throws dev.flotilla.collective.CollectiveException if a peer or link fails
   */
  public Trainer build() {
    var settings = settings();
    return new Trainer(settings, settings.plan());
  }

  /** Returns what has been collected; later calls do not change it. */
  TrainerSettings settings() {
    return new TrainerSettings(
        world,
        Objects.requireNonNull(model, "a trainer needs a model: call model(...)"),
        Objects.requireNonNull(optimizer, "a trainer needs an optimizer: call optimizer(...)"),
        schedule,
        scheduleUnit,
        strategies,
        precision,
        device,
        seed,
        threads,
        collectiveSettings,
        frozen,
        frozenStatistics,
        noDecay,
        new Groups(groups, layerDecay),
        events,
        loop,
        microBatch,
        wrapper,
        facts,
        checkpoints,
        initialWeights,
        runFolder,
        remembered,
        nonFinite,
        compareEvery,
        warnings,
        metrics,
        stopWhen,
        callbacks,
        histograms,
        tensorBoard);
  }
}
