package dev.flotilla.config;

import dev.flotilla.data.PreprocessedData;
import dev.flotilla.data.SampleForm;
import dev.flotilla.metric.Metrics;
import dev.flotilla.model.BufferSpec;
import dev.flotilla.model.ParameterSpec;
import dev.flotilla.model.Task;
import dev.flotilla.settings.ConfigException;
import dev.flotilla.settings.NamePatterns;
import dev.flotilla.settings.Problem;
import dev.flotilla.strategy.Strategy;
import dev.flotilla.strategy.StrategyChoice;
import dev.flotilla.train.Every;
import dev.flotilla.train.Plateau;
import dev.flotilla.train.WatchedValue;
import dev.flotilla.world.World;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/** Looks at what a run needs before anything is started, and says together what is wrong. */
final class Preflight {

  /** Four terabytes of float32. */
  private static final long MOST_PARAMETERS = 1_000_000_000_000L;

  private final RunConfig config;
  private final List<Problem> found = new ArrayList<>();

  private Preflight(RunConfig config) {
    this.config = config;
  }

  /**
   * Checks the batch against the ranks, the data, whether the model can take it, and the patterns
   * of parameter names.
   *
   * @throws ConfigException with everything that is wrong
   */
  static void check(RunConfig config, World world) {
    var preflight = new Preflight(config);
    preflight.attempt(() -> config.batchOn(world));
    boolean isCountable = preflight.attempt(preflight::checkSize);
    if (preflight.attempt(config::checkData)) {
      preflight.attempt(preflight::checkAllSamples);
    }
    preflight.attempt(preflight::checkMetrics);
    preflight.attempt(() -> preflight.checkPorts(world));
    if (isCountable) {
      preflight.attempt(preflight::checkPatterns);
    }
    if (!preflight.found.isEmpty()) {
      throw new ConfigException(preflight.found);
    }
  }

  /**
   * Checks that the model can take samples of the data, which has been checked.
   *
   * @throws ConfigException with everything that is wrong
   */
  static void checkSamples(RunConfig config) {
    new Preflight(config).checkAllSamples();
  }

  private void checkAllSamples() {
    refuseOwnPreprocessing();
    config.data().form().ifPresent(form -> checkTask("data.task", form));
    config.data().form().ifPresent(this::checkSamples);
    config.eval().others().values().forEach(it -> it.form().ifPresent(this::checkSamples));
  }

  private boolean attempt(Runnable check) {
    try {
      check.run();
      return true;
    } catch (ConfigException wrong) {
      found.addAll(wrong.problems());
      return false;
    }
  }

  /** What a number of parameters cannot be written as, no memory holds. */
  private void checkSize() {
    long parameters = 0;
    for (var spec : config.model().parameters()) {
      parameters += Math.min(MOST_PARAMETERS, elements(spec));
      if (parameters >= MOST_PARAMETERS) {
        String message = "must have fewer than %,d parameters".formatted(MOST_PARAMETERS);
        throw new ConfigException(List.of(placed("model", message, "make its layers smaller")));
      }
    }
  }

  private static long elements(ParameterSpec spec) {
    try {
      return spec.shape().elements();
    } catch (ArithmeticException tooMany) {
      return Long.MAX_VALUE;
    }
  }

  /** A row of numbers may be meant for classes or for a number, and so may an objective. */
  private void checkTask(String key, SampleForm form) {
    if (!(form instanceof SampleForm.Numbers numbers)) {
      return;
    }
    var task = config.trained().objective().task();
    if (numbers.classes() == 0 && task == Task.CLASSIFICATION) {
      throw new ConfigException(
          List.of(
              placed(
                  "objective",
                  "must be one for numbers, which the data is labelled with",
                  "objective: mse, l1 or huber")));
    }
    if (numbers.classes() > 0 && task == Task.REGRESSION) {
      throw new ConfigException(
          List.of(
              placed(
                  key,
                  "is labelled with classes, but the objective is one for numbers",
                  "set task: regression, or leave out objective")));
    }
  }

  /** What other data would learn of itself is not what the model is trained on. */
  private void refuseOwnPreprocessing() {
    config
        .eval()
        .others()
        .forEach(
            (name, other) -> {
              if (other instanceof PreprocessedData data && data.preprocessing() == null) {
                throw new ConfigException(
                    List.of(
                        placed(
                            "eval.also." + name,
                            "would be normalised by itself, and not as the training data is",
                            "state preprocessing, the preprocessing.json of a run")));
              }
            });
  }

  private void checkSamples(SampleForm form) {
    try {
      config.model().checkSamples(form);
    } catch (ConfigException wrong) {
      throw new ConfigException(
          wrong.problems().stream()
              .map(it -> placed(Text.dotted("model", it.key()), it.message(), it.fix()))
              .toList());
    }
  }

  private void checkMetrics() {
    var problems = Metrics.problems(config.metrics(), config.trained().objective().task());
    List<Problem> placed = new ArrayList<>();
    for (int i = 0; i < problems.size(); i++) {
      String key = "metrics[" + i + "]";
      problems.get(i).ifPresent(message -> placed.add(placed(key, message, "")));
    }
    checkDecisions(placed::add);
    if (!placed.isEmpty()) {
      throw new ConfigException(placed);
    }
  }

  private void checkDecisions(Consumer<Problem> problems) {
    var task = config.trained().objective().task();
    var sets = config.eval().others().keySet();
    var stop = config.stopWhen();
    var average =
        Optional.ofNullable(config.ema()).flatMap(StrategyChoice::chosen).map(Strategy::key);
    if (stop != null) {
      stop.problem(config.metrics(), task, average, sets)
          .ifPresent(message -> problems.accept(placed("stop_when.metric", message, "")));
      if (config.eval().every() instanceof Every.End) {
        problems.accept(
            placed("stop_when", "needs evaluations before the end", "set eval.every to epoch"));
      }
    }
    if (config.schedule() instanceof Plateau plateau) {
      WatchedValue.problem(plateau.metric(), config.metrics(), task, average, sets)
          .ifPresent(message -> problems.accept(placed("schedule.metric", message, "")));
      if (config.eval().every() instanceof Every.End) {
        problems.accept(
            placed("schedule", "needs evaluations before the end", "set eval.every to epoch"));
      }
    }
    var checkpoint = config.checkpoint();
    if (checkpoint != null && checkpoint.best() != null) {
      WatchedValue.problem(checkpoint.best(), config.metrics(), task, average, sets)
          .ifPresent(message -> problems.accept(placed("checkpoint.best", message, "")));
    }
  }

  private void checkPorts(World world) {
    var prometheus = config.prometheus();
    if (prometheus != null) {
      prometheus
          .problem(world.localSize())
          .ifPresent(
              message -> {
                var fix = "give a lower port, or 0 for any that is free";
                throw new ConfigException(List.of(placed("prometheus.port", message, fix)));
              });
    }
  }

  private void checkPatterns() {
    var names = config.model().parameters().stream().map(ParameterSpec::name).toList();
    List<Problem> problems = new ArrayList<>();
    requireMatches("freeze", config.freeze(), names, problems::add);
    checkStatistics(problems::add);
    var noDecay = config.noDecay();
    requireMatches("no_decay", noDecay == null ? List.of() : noDecay, names, problems::add);
    if (names.stream().allMatch(NamePatterns.anyOf(config.freeze()))) {
      problems.add(placed("freeze", "leaves no parameter to train", ""));
    } else {
      config.parameterGroups().problems(config.optimizer(), trained(names)).stream()
          .map(it -> placed(it.key(), it.message(), it.fix()))
          .forEach(problems::add);
    }
    if (!problems.isEmpty()) {
      throw new ConfigException(problems);
    }
  }

  private void checkStatistics(Consumer<Problem> problems) {
    var names =
        config.model().buffers().stream()
            .filter(BufferSpec::isStatistic)
            .map(BufferSpec::layer)
            .distinct()
            .toList();
    for (var pattern : NamePatterns.unmatched(config.freezeStatistics(), names)) {
      String message =
          names.isEmpty()
              ? "'%s' matches nothing: the model has no BatchNorm".formatted(pattern)
              : "'%s' matches none of the BatchNorms %s".formatted(pattern, shortened(names));
      problems.accept(placed("freeze_statistics", message, ""));
    }
  }

  private List<String> trained(List<String> names) {
    var model = config.model();
    var stays = NamePatterns.anyOf(config.freeze()).or(model.frozen()::contains);
    return names.stream().filter(stays.negate()).toList();
  }

  private void requireMatches(
      String key, List<String> patterns, List<String> names, Consumer<Problem> problems) {
    for (var pattern : NamePatterns.unmatched(patterns, names)) {
      String message = "'" + pattern + "' matches none of the parameters " + shortened(names);
      problems.accept(placed(key, message, ""));
    }
  }

  private static String shortened(List<String> names) {
    return names.size() <= 12 ? names.toString() : names.subList(0, 12) + " …";
  }

  private Problem placed(String key, String message, String fix) {
    return new Problem(config.origin().placeOf(key).text(), key, message, fix);
  }
}
