package dev.flotilla.config;

import dev.flotilla.data.DataSource;
import dev.flotilla.memory.CpuThreads;
import dev.flotilla.memory.DeviceChoice;
import dev.flotilla.memory.Precision;
import dev.flotilla.metric.Metric;
import dev.flotilla.model.Model;
import dev.flotilla.model.Objective;
import dev.flotilla.optim.GroupSettings;
import dev.flotilla.optim.Groups;
import dev.flotilla.optim.Optimizer;
import dev.flotilla.optim.Schedule;
import dev.flotilla.optim.ScheduleUnit;
import dev.flotilla.settings.Check;
import dev.flotilla.settings.ConfigException;
import dev.flotilla.settings.Setting;
import dev.flotilla.strategy.Strategy;
import dev.flotilla.strategy.StrategyChoice;
import dev.flotilla.text.Secrets;
import dev.flotilla.train.NonFinite;
import dev.flotilla.train.StopWhen;
import dev.flotilla.world.World;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Everything a recipe says about a run, resolved and checked.
 *
 * @param model what is trained
 * @param objective what it is trained for; null for what the model says
 * @param data what it is trained and tested on
 * @param batch samples per rank and micro-step; null when {@code globalBatch} is stated
 * @param globalBatch samples over all ranks; null when {@code batch} is stated
 * @param epochs passes over the training data; null when {@code maxSteps} is stated
 * @param maxSteps updates after which the run ends; null when {@code epochs} is stated
 * @param precision dtype of parameters and gradients
 * @param seed of initialization, sample order and dropout
 * @param device where tensors live
 * @param threads threads per rank; null for OMP_NUM_THREADS, or cores divided by the ranks on the
 *     host
 * @param optimizer how gradients move parameters
 * @param schedule the learning rate over updates
 * @param schedulePer what the schedule counts
 * @param clip limit of the gradient; null for none
 * @param exchange how gradients are reduced
 * @param batchNorm the samples that BatchNorm's statistics are taken over
 * @param ema moving average of the weights; null for none
 * @param eval when the test data is scored
 * @param metrics what is measured then, besides loss and accuracy
 * @param stopWhen when the run ends early; null for never
 * @param initFrom weights that the run starts from
 * @param checkpoint when and where the state is saved; null for the end of each epoch, where that
 *     is possible
 * @param tensorboard what is written for TensorBoard; null for nothing
 * @param prometheus where metrics are served for Prometheus; null for nowhere
 * @param nonFinite what happens when a loss or gradient is infinite or undefined
 * @param compareEvery updates between two comparisons of the ranks' parameters; 0 for never
 * @param logEvery updates between two log events
 * @param timeout longest wait in a collective
 * @param joinTimeout longest wait for the other ranks at the start
 * @param freeze names of parameters that stay as they are; {@code *} stands for any characters
 * @param freezeStatistics names of BatchNorms whose running statistics stay
 * @param noDecay names of parameters without weight decay; null for biases and norms
 * @param groups parameters with settings of their own
 * @param layerDecay factor on the rate from a segment to the one before
 * @param strategy techniques, by name
 * @param origin where the values were written
 */
public record RunConfig(
    @Setting(doc = "The model to train.") Model model,
    @Setting(doc = "The loss; by default what the model is trained for.", def = "null")
        @Nullable Objective objective,
    @Setting(doc = "The data to train and test on.") DataSource data,
    @Setting(doc = "Samples per rank and micro-step.", insteadOf = "global_batch")
        @Nullable Integer batch,
    @Setting(
            doc = "Samples per micro-step over all ranks, divided among them.",
            insteadOf = "batch")
        @Nullable Integer globalBatch,
    @Setting(
            doc = "Passes over the training data; 1 if max_steps is not stated either.",
            def = "null",
            insteadOf = "max_steps")
        @Nullable Integer epochs,
    @Setting(doc = "Updates after which the run ends.", def = "null", insteadOf = "epochs")
        @Nullable Long maxSteps,
    @Setting(doc = "Type of parameters and gradients: float32 or float64.", def = "float32")
        Precision precision,
    @Setting(doc = "Seed of initialization, sample order and dropout.", def = "42") long seed,
    @Setting(
            doc = "Where tensors live: cpu, cuda, cuda:N, or auto for a GPU where there is one.",
            def = "auto")
        DeviceChoice device,
    @Setting(
            doc =
                "Threads of one operation on each rank; by default OMP_NUM_THREADS, or cores /"
                    + " ranks on the host.",
            def = "null",
            local = true)
        @Nullable Integer threads,
    @Setting(doc = "How gradients move parameters.") Optimizer optimizer,
    @Setting(doc = "How the learning rate changes over updates.", def = "constant")
        Schedule schedule,
    @Setting(doc = "What the schedule counts: update or epoch.", def = "update")
        ScheduleUnit schedulePer,
    @Setting(
            doc = "Limit of the gradient's norm, or of each of its elements; by default none.",
            def = "null")
        @Nullable StrategyChoice clip,
    @Setting(
            doc =
                "How gradients are reduced: dense, or auto for the fastest of dense, bf16 and dgc.",
            def = "dense")
        StrategyChoice exchange,
    @Setting(
            doc = "What BatchNorm sees: micro_batch, whole_window, or sync over all ranks.",
            def = "micro_batch")
        StrategyChoice batchNorm,
    @Setting(doc = "Moving average of the weights, evaluated and saved beside them.", def = "null")
        @Nullable StrategyChoice ema,
    @Setting(doc = "When and how the test data is scored.", def = "{}") Eval eval,
    @Setting(doc = "What is measured on the test data, besides loss and accuracy.", def = "[]")
        List<Metric> metrics,
    @Setting(doc = "Ends the run when evaluations get no better; by default never.", def = "null")
        @Nullable StopWhen stopWhen,
    @Setting(doc = "Weights to start from, instead of those that the seed draws.", def = "{}")
        InitFrom initFrom,
    @Setting(
            doc = "When and where the state of the run is saved; by default as {} where possible.",
            def = "null")
        @Nullable CheckpointConfig checkpoint,
    @Setting(
            doc = "Event files for TensorBoard, {} for those of scalars; by default none.",
            def = "null",
            local = true)
        @Nullable TensorBoardConfig tensorboard,
    @Setting(
            doc = "Where to serve /metrics for Prometheus while training; by default nowhere.",
            def = "null",
            local = true)
        @Nullable PrometheusConfig prometheus,
    @Setting(
            doc =
                "When a loss or gradient is not finite: stop, skip the accumulation window, or"
                    + " rollback.",
            def = "stop")
        NonFinite nonFinite,
    @Setting(
            doc = "Updates between two comparisons of all ranks' parameters; 0 for never.",
            def = "100")
        int compareEvery,
    @Setting(doc = "Updates between two log events.", def = "10") int logEvery,
    @Setting(doc = "Longest wait in a collective, in seconds or with a unit.", def = "60s")
        Duration timeout,
    @Setting(
            doc = "Longest wait for the other ranks at the start, in seconds or with a unit.",
            def = "60s",
            local = true)
        Duration joinTimeout,
    @Setting(doc = "Names of parameters that are not trained; * stands for anything.", def = "[]")
        List<String> freeze,
    @Setting(
            doc =
                "BatchNorms that keep their running statistics and train by them; * stands for"
                    + " anything.",
            def = "[]")
        List<String> freezeStatistics,
    @Setting(
            doc = "Names of parameters without weight decay; by default biases and norms.",
            def = "null")
        @Nullable List<String> noDecay,
    @Setting(doc = "Parameters with a rate, decay or betas of their own.", def = "[]")
        List<GroupSettings> groups,
    @Setting(
            doc = "Factor on the learning rate from each segment to the one before, in (0, 1].",
            def = "1")
        double layerDecay,
    @Setting(doc = "Techniques by name, each with its settings.", def = "{}")
        List<Strategy> strategy,
    Origin origin) {

  /** Checks the values that stand for themselves, and fills in the epochs. */
  public RunConfig {
    Check.that(isPositive(batch), "batch", "must be at least 1", shown(batch))
        .and(isPositive(globalBatch), "global_batch", "must be at least 1", shown(globalBatch))
        .and(isPositive(epochs), "epochs", "must be at least 1", shown(epochs))
        .and(isPositive(maxSteps), "max_steps", "must be at least 1", shown(maxSteps))
        .and(seed >= 0, "seed", "must be at least 0", seed)
        .and(
            threads == null || CpuThreads.isAllowed(threads),
            "threads",
            CpuThreads.ALLOWED,
            shown(threads))
        .and(compareEvery >= 0, "compare_every", "must be at least 0", compareEvery)
        .and(logEvery >= 1, "log_every", "must be at least 1", logEvery)
        .and(timeout.isPositive(), "timeout", "must be greater than 0", TimeText.of(timeout))
        .and(
            joinTimeout.isPositive(),
            "join_timeout",
            "must be greater than 0",
            TimeText.of(joinTimeout))
        .and(layerDecay > 0 && layerDecay <= 1, "layer_decay", "must be in (0, 1]", layerDecay)
        .and(hasNoBlank(freeze), "freeze", "must not hold an empty name", freeze)
        .and(
            hasNoBlank(freezeStatistics),
            "freeze_statistics",
            "must not hold an empty name",
            freezeStatistics)
        .and(hasNoBlank(noDecay), "no_decay", "must not hold an empty name", shown(noDecay))
        .orThrow();
    boolean isOneBatch = (batch == null) != (globalBatch == null);
    boolean isOneEnd = epochs == null || maxSteps == null;
    Check.that(isOneBatch, "", "must state batch or global_batch", batch + ", " + globalBatch)
        .and(isOneEnd, "", "must state epochs or max_steps", epochs + ", " + maxSteps)
        .orThrow();
    epochs = epochs == null && maxSteps == null ? Integer.valueOf(1) : epochs;
    freeze = List.copyOf(freeze);
    freezeStatistics = List.copyOf(freezeStatistics);
    noDecay = noDecay == null ? null : List.copyOf(noDecay);
    groups = List.copyOf(groups);
    strategy = List.copyOf(strategy);
    metrics = List.copyOf(metrics);
  }

  private static boolean isPositive(@Nullable Number value) {
    return value == null || value.longValue() >= 1;
  }

  private static boolean hasNoBlank(@Nullable List<String> names) {
    return names == null || names.stream().noneMatch(String::isBlank);
  }

  private static String shown(@Nullable Object value) {
    return String.valueOf(value);
  }

  /**
   * Reads a recipe file with {@code --set} options on top.
   *
   * @throws ConfigException with everything that is wrong
   */
  public static RunConfig read(Path recipe, List<String> sets) {
    var changes = sets.stream().map(Change::set).toList();
    return read(Recipe.read(recipe).overlay(changes), Catalogue.installed());
  }

  /**
   * Reads a recipe.
   *
   * @throws ConfigException with everything that is wrong
   */
  public static RunConfig read(Recipe recipe, Catalogue catalogue) {
    return SettingsBinder.bind(recipe, RunConfig.class, catalogue);
  }

  /**
   * Reads a program's arguments: {@code RECIPE [--set key=value]… [--max-steps N] [--out DIR]}, and
   * after {@code --} what is the program's own.
   *
   * @throws ConfigException with everything that is wrong
   */
  public static RunArguments fromArgs(String... args) {
    return ArgumentReader.read(List.of(args), Catalogue.installed());
  }

  /** Returns the model with the objective that it is trained for here. */
  public Model trained() {
    return objective == null ? model : model.trainedFor(objective);
  }

  /** Returns which parameters have settings of their own. */
  Groups parameterGroups() {
    return new Groups(groups, layerDecay);
  }

  /** Returns all techniques, whatever the keys that name them. */
  public List<Strategy> techniques() {
    var choices =
        Stream.of(
            Optional.ofNullable(clip),
            Optional.of(exchange),
            Optional.of(batchNorm),
            Optional.ofNullable(ema));
    var chosen = choices.flatMap(Optional::stream).flatMap(choice -> choice.chosen().stream());
    return Stream.concat(strategy.stream(), chosen).toList();
  }

  /**
   * Checks that the data can be read.
   *
   * @throws ConfigException with the place of the key that names what is missing
   */
  public void checkData() {
    var problems = new Problems();
    check("data", data, problems);
    eval.others().forEach((name, other) -> check("eval.also." + name, other, problems));
    problems.orThrow();
  }

  private void check(String where, DataSource source, Problems problems) {
    try {
      source.check();
    } catch (ConfigException e) {
      for (var problem : e.problems()) {
        String key = Text.dotted(where, problem.key().replaceFirst("^data(\\.|$)", ""));
        problems.add(origin.placeOf(key), key, problem.message(), problem.fix());
      }
    }
  }

  /**
   * Returns the number of samples that a rank takes in a full step. Of a global batch of G samples,
   * rank r of N takes [r·G/N, (r+1)·G/N), so that shares differ by one at most.
   *
   * @throws ConfigException if the global batch has fewer samples than there are ranks, or more
   *     than can be counted
   */
  public int batchOn(World world) {
    return batchSize().on(world);
  }

  BatchSize batchSize() {
    return globalBatch == null
        ? new BatchSize.PerRank(Objects.requireNonNull(batch), origin)
        : new BatchSize.Global(globalBatch, origin);
  }

  /** Returns the number of threads that a rank uses on a host with so many cores. */
  public int threadsOn(World world, Map<String, String> environment, int cores) {
    return threads != null ? threads : world.threads(environment, cores);
  }

  /**
   * Returns what all ranks must agree on: dotted keys with canonical text, without paths and other
   * values that may differ from host to host.
   */
  public SortedMap<String, String> facts() {
    var facts = new SettingsWriter(origin.catalogue()).facts(this);
    // Checkpoints state them.
    Map<String, Object> shown = secrets().hideIn(new TreeMap<>(facts));
    facts.replaceAll((key, _) -> String.valueOf(shown.get(key)));
    return facts;
  }

  /** Returns all settings as they read after having been written as JSON. */
  Map<String, Object> asRead() {
    return SavedRun.throughJson(resolved());
  }

  /**
   * Returns all settings as maps, lists, numbers and texts; {@link Recipe#of} reads them again into
   * an equal configuration.
   */
  public Map<String, Object> resolved() {
    return new SettingsWriter(origin.catalogue()).resolved(this);
  }

  /** Returns all settings as they are printed and saved: {@link #resolved()} without secrets. */
  public Map<String, Object> shown() {
    return secrets().hideIn(resolved());
  }

  private static Secrets secrets() {
    return new Secrets(System.getenv());
  }
}
