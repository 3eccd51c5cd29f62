package dev.flotilla.train;

import dev.flotilla.collective.Collective;
import dev.flotilla.collective.CollectiveSettings;
import dev.flotilla.memory.CpuThreads;
import dev.flotilla.memory.DeviceChoice;
import dev.flotilla.memory.Precision;
import dev.flotilla.metric.Metric;
import dev.flotilla.metric.Metrics;
import dev.flotilla.model.BufferSpec;
import dev.flotilla.model.Model;
import dev.flotilla.model.ParameterSpec;
import dev.flotilla.optim.Groups;
import dev.flotilla.optim.Optimizer;
import dev.flotilla.optim.Schedule;
import dev.flotilla.optim.ScheduleUnit;
import dev.flotilla.pass.BoundModel;
import dev.flotilla.report.EventSink;
import dev.flotilla.report.tensorboard.TensorBoard;
import dev.flotilla.settings.ConfigException;
import dev.flotilla.settings.Problem;
import dev.flotilla.state.Stateful;
import dev.flotilla.step.Phase;
import dev.flotilla.strategy.PlanFacts;
import dev.flotilla.strategy.PlanIssue;
import dev.flotilla.strategy.PlanRejectedException;
import dev.flotilla.strategy.Property;
import dev.flotilla.strategy.StepPlanner;
import dev.flotilla.strategy.Strategy;
import dev.flotilla.world.World;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What a {@link Trainer} was built with; see {@link TrainerBuilder} for what each means.
 *
 * @param world the place among the ranks
 * @param model what is trained
 * @param optimizer the update rule
 * @param schedule how the learning rate changes
 * @param scheduleUnit what the schedule counts
 * @param strategies techniques
 * @param precision number type of parameters, gradients and activations
 * @param device where tensors live
 * @param seed of initial values and of everything random in the model
 * @param threads threads of one operation
 * @param collectiveSettings how ranks talk to each other
 * @param frozen which parameters are not trained
 * @param frozenStatistics which BatchNorms keep their running statistics and train by them
 * @param noDecay which parameters are not decayed; null for the optimizer's own rule
 * @param groups parameters with settings of their own
 * @param events who is told what happens
 * @param loop when a fit logs and evaluates
 * @param microBatch samples of a micro-step over all ranks, where they are known
 * @param wrapper wraps the group of ranks
 * @param facts on which all ranks must agree
 * @param checkpoints when a fit saves checkpoints; null for never
 * @param initialWeights weights that training starts from; null for those that the seed draws
 * @param runFolder the folder that tells of the run; null where there is none
 * @param remembered parts of the user's own in checkpoints
 * @param nonFinite what happens when a loss or gradient is not finite
 * @param compareEvery when ranks compare their parameters; nothing for never
 * @param warnings from outside the techniques
 * @param metrics what evaluations measure besides loss and accuracy
 * @param stopWhen when a fit ends early; null for never
 * @param callbacks what is called as training goes on
 * @param histograms updates between two histograms of gradients and weights; nothing for none
 * @param tensorBoard where rank 0 writes them; null elsewhere
 */
record TrainerSettings(
    World world,
    Model model,
    Optimizer optimizer,
    Schedule schedule,
    ScheduleUnit scheduleUnit,
    List<Strategy> strategies,
    Precision precision,
    DeviceChoice device,
    long seed,
    int threads,
    CollectiveSettings collectiveSettings,
    Predicate<String> frozen,
    Predicate<String> frozenStatistics,
    @Nullable Predicate<String> noDecay,
    Groups groups,
    EventSink events,
    LoopSettings loop,
    OptionalInt microBatch,
    UnaryOperator<Collective> wrapper,
    SortedMap<String, String> facts,
    @Nullable CheckpointSettings checkpoints,
    @Nullable InitialWeights initialWeights,
    @Nullable RunFolder runFolder,
    List<Stateful> remembered,
    NonFinite nonFinite,
    Optional<Every.Updates> compareEvery,
    List<PlanIssue> warnings,
    List<Metric> metrics,
    @Nullable StopWhen stopWhen,
    List<Callback> callbacks,
    Optional<Every.Updates> histograms,
    @Nullable TensorBoard tensorBoard) {

  TrainerSettings {
    strategies = List.copyOf(strategies);
    facts = Collections.unmodifiableSortedMap(new TreeMap<>(facts));
    remembered = List.copyOf(remembered);
    warnings = List.copyOf(warnings);
    metrics = List.copyOf(metrics);
    callbacks = List.copyOf(callbacks);
    requireNoProblem(groups.problems(optimizer, trained(model, frozen)));
    var task = model.objective().task();
    var sets = loop.others().keySet();
    if (!sets.isEmpty() && loop.testData() == null) {
      throw new ConfigException(
          "eval.also", "names data beside the test data, but there is none: add evaluateOn(data)");
    }
    var average = averageName(strategies);
    Metrics.problems(metrics, task).forEach(it -> refuse("metrics", it));
    average
        .filter(sets::contains)
        .ifPresent(
            name -> {
              throw new ConfigException(
                  "eval.also", "'%s' is what the moving average is called".formatted(name));
            });
    // Without test data a fit says so; until it begins, the data may not be named yet.
    boolean isDataKnown = loop.testData() != null;
    if (stopWhen != null && isDataKnown) {
      refuse("stop_when.metric", stopWhen.problem(metrics, task, average, sets));
    }
    if (schedule instanceof Plateau plateau && isDataKnown) {
      refuse(
          "schedule.metric", WatchedValue.problem(plateau.metric(), metrics, task, average, sets));
    }
    if (checkpoints != null && checkpoints.best() != null && isDataKnown) {
      refuse(
          "checkpoint.best",
          WatchedValue.problem(checkpoints.best(), metrics, task, average, sets));
    }
  }

  /** Returns which parameters are not trained, and which buffers of statistics stay. */
  Predicate<String> stays() {
    var buffers = frozenBuffers();
    var all = statistics(model).map(BufferSpec::name).collect(Collectors.toSet());
    return name -> all.contains(name) ? buffers.contains(name) : frozen.test(name);
  }

  private Set<String> frozenBuffers() {
    return statistics(model)
        .filter(buffer -> frozenStatistics.test(buffer.layer()))
        .map(BufferSpec::name)
        .collect(Collectors.toSet());
  }

  private static Stream<BufferSpec> statistics(Model model) {
    return model.buffers().stream().filter(BufferSpec::isStatistic);
  }

  private static List<String> trained(Model model, Predicate<String> frozen) {
    var stays = frozen.or(model.frozen()::contains);
    return model.parameters().stream().map(ParameterSpec::name).filter(stays.negate()).toList();
  }

  private static void requireNoProblem(List<Problem> problems) {
    if (!problems.isEmpty()) {
      throw new ConfigException(problems);
    }
  }

  private static void refuse(String key, Optional<String> problem) {
    if (problem.isPresent()) {
      throw new ConfigException(key, problem.get());
    }
  }

  /** Returns how evaluations name a moving average of the weights, if a technique keeps one. */
  Optional<String> averageName() {
    return averageName(strategies);
  }

  private static Optional<String> averageName(List<Strategy> strategies) {
    return strategies.stream()
        .filter(it -> it.claims().stream().anyMatch(claim -> claim.phase() == Phase.AVERAGE))
        .map(Strategy::key)
        .findFirst();
  }

  /** Returns how this rank's operations share the cores of the host. */
  CpuThreads cpuThreads() {
    return new CpuThreads(threads, world.localSize(), CpuThreads.coresHere());
  }

  /**
   * Resolves the techniques without touching native code.
   *
   * @throws PlanRejectedException if they cannot work together
   */
  StepPlanner.Plan plan() {
    var layout = BoundModel.layoutOf(model, precision, frozen);
    var facts =
        new PlanFacts(
            world.size(),
            optimizer,
            model,
            layout,
            microBatch,
            strategies,
            groups,
            frozenBuffers());
    if (nonFinite == NonFinite.ROLLBACK
        && world.size() > 1
        && facts.has(Property.LETS_RANKS_DIFFER)) {
      throw new PlanRejectedException(
          List.of(
              PlanIssue.error(
                  "non_finite: rollback needs all ranks to see the same gradients, but here each"
                      + " has its own between two averages",
                  "use non_finite: skip or stop")));
    }
    if (histograms.isPresent() && facts.has(Property.SHARDS_STATE)) {
      String name = facts.named(Property.SHARDS_STATE);
      throw new PlanRejectedException(
          List.of(
              PlanIssue.error(
                  "tensorboard.histograms are written by rank 0, which with %s holds slices of the gradients alone"
                      .formatted(name),
                  "leave histograms or %s out".formatted(name))));
    }
    var plan = StepPlanner.plan(strategies, facts);
    return new StepPlanner.Plan(
        plan.step(), Stream.concat(plan.warnings().stream(), warnings.stream()).toList());
  }
}
