package dev.flotilla.train;

import dev.flotilla.collective.Collective;
import dev.flotilla.pass.Evaluation;
import dev.flotilla.report.TrainingEvent;
import dev.flotilla.state.RunState;
import dev.flotilla.state.RunStatePart;
import dev.flotilla.state.State;
import dev.flotilla.state.Stateful;
import dev.flotilla.step.MicroSteps;
import dev.flotilla.step.StepOutcome;
import dev.flotilla.world.ExitCoded;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Calls a trainer's callbacks, and brings what they ask for to all ranks.
 *
 * <p>Requests of a rank wait until the ranks meet: at the exchange of the next window, which tells
 * that there are any, or after an evaluation or an epoch. Without callbacks nothing happens, and
 * nothing is sent.
 */
final class Callbacks implements Stateful {

  private static final String SECTION = "callbacks";

  private final List<Callback> all;
  private final TrainerSettings settings;
  private final Collective collective;
  private final LearningRate rate;
  private final LoopControl control = new LoopControl(this);
  private final SequencedMap<String, Double> logged = new LinkedHashMap<>();
  private final Map<String, Double> loggedNow = new LinkedHashMap<>();
  private @Nullable MicroSteps steps;
  private Requests requests = new Requests();
  private Optional<String> stop = Optional.empty();
  private boolean isEvaluationAsked;
  private boolean isEvaluationAnnounced;
  private boolean isEpochOpen;
  private boolean isInside;
  private int epoch;

  Callbacks(TrainerSettings settings, Collective collective, LearningRate rate) {
    this.all = settings.callbacks();
    this.settings = settings;
    this.collective = collective;
    this.rate = rate;
  }

  /** Says whose steps they are called at, once, before the first one. */
  void follow(MicroSteps microSteps) {
    steps = microSteps;
  }

  private MicroSteps steps() {
    return Objects.requireNonNull(steps);
  }

  /** Begins a new fit: what an earlier one has asked for is done with. */
  void begin() {
    stop = Optional.empty();
    requests = new Requests();
    isEvaluationAsked = false;
    isEvaluationAnnounced = false;
    isEpochOpen = false;
  }

  long updates() {
    return steps().updates();
  }

  int epoch() {
    return epoch;
  }

  double learningRate() {
    return rate.applyAsDouble(updates());
  }

  Requests requests() {
    return requests;
  }

  void requireData() {
    if (settings.loop().testData() == null) {
      throw new IllegalStateException(
          "there is no data to evaluate on: name it with loop(it -> it.evaluateOn(data))");
    }
  }

  void log(String name, double value) {
    loggedNow.put(name, value);
  }

  /** Called at the beginning of a window: begins the epoch if that has not begun. */
  void beforeEpoch(int number) {
    if (!all.isEmpty() && !isEpochOpen) {
      isEpochOpen = true;
      epoch = number;
      tell("beforeEpoch", Callback::beforeEpoch);
      agree();
    }
  }

  /** Called at the beginning of a window. */
  void beforeStep() {
    if (all.isEmpty()) {
      return;
    }
    tell("beforeStep", Callback::beforeStep);
    raise();
  }

  /** Ranks that differ have no exchange that all of them take part in. */
  private void raise() {
    steps().raise(!requests.isEmpty() && !steps().sync().letsRanksDiffer());
  }

  /** Called at the end of a window. */
  void afterStep(StepOutcome outcome) {
    if (all.isEmpty()) {
      return;
    }
    tell("afterStep", (callback, loop) -> callback.afterStep(loop, outcome));
    if (steps().sync().letsRanksDiffer() && steps().sync().isRound()) {
      agree();
    }
  }

  /** Called at the end of an epoch; what was called before a stop is not called again. */
  void afterEpoch() {
    if (!all.isEmpty() && isEpochOpen) {
      isEpochOpen = false;
      tell("afterEpoch", Callback::afterEpoch);
      agree();
    }
  }

  /** Called before an evaluation; if a stop cuts it short, only once. */
  void beforeEvaluation() {
    if (!all.isEmpty() && !isInside && !isEvaluationAnnounced) {
      isEvaluationAnnounced = true;
      tell("beforeEvaluation", Callback::beforeEvaluation);
    }
  }

  void afterEvaluation(Evaluation evaluation) {
    if (!all.isEmpty() && !isInside) {
      isEvaluationAnnounced = false;
      tell("afterEvaluation", (callback, loop) -> callback.afterEvaluation(loop, evaluation));
      agree();
      isEvaluationAsked = false;
    }
  }

  /** Hears that an evaluation which was asked for has been made, or need not be. */
  void evaluationIsMade() {
    isEvaluationAsked = false;
  }

  boolean areNone() {
    return all.isEmpty();
  }

  private void tell(String call, BiConsumer<Callback, LoopControl> action) {
    isInside = true;
    try {
      all.forEach(callback -> tell(callback, call, action));
    } finally {
      isInside = false;
    }
    if (!loggedNow.isEmpty()) {
      var values = new LinkedHashMap<>(loggedNow);
      loggedNow.clear();
      logged.putAll(values);
      settings.events().on(new TrainingEvent.Logged(epoch, updates(), values));
    }
  }

  private void tell(Callback callback, String call, BiConsumer<Callback, LoopControl> action) {
    try {
      action.accept(callback, control);
    } catch (RuntimeException failure) {
      // Whoever names an exit code says what has happened, and is not a callback's own failure.
      throw failure instanceof ExitCoded
          ? failure
          : new CallbackException(callback, call, updates(), failure);
    }
  }

  /** Does what the ranks ask for; all of them call it together. */
  void agree() {
    var agreed = requests.overRanks(collective);
    requests = new Requests();
    rate.change(agreed.rate(), agreed.factor());
    isEvaluationAsked |= agreed.evaluates();
    stop = stop.or(agreed::stopReason);
  }

  /** Returns why a callback wants the loop to end. */
  Optional<String> stopAsked() {
    return stop;
  }

  /** Tells whether a callback has asked for an evaluation that was not made yet. */
  boolean isEvaluationAsked() {
    return isEvaluationAsked;
  }

  /** Returns the last number of each name. */
  Map<String, Object> forSummary() {
    return logged.isEmpty() ? Map.of() : Map.of("logged", new LinkedHashMap<>(logged));
  }

  /**
   * Lets all ranks wait with the same requests, which can be saved; all of them call it together.
   */
  void beforeSave() {
    if (!all.isEmpty()) {
      requests = requests.overRanks(collective);
    }
  }

  @Override
  public void remember(RunState state) {
    // A run may go on without a callback that it had before.
    state.shared().mayLeave(SECTION);
    state.own().mayLeave(SECTION);
    var own = state.shared().part(SECTION);
    // Neither versions without callbacks nor runs without any have saved them.
    if (all.isEmpty() || !own.has("stopped")) {
      return;
    }
    boolean isStopped = flag(own, "stopped", stop.isPresent());
    var reason = own.text("stop", stop.orElse(""));
    stop = isStopped ? Optional.of(reason) : Optional.empty();
    isEvaluationAsked = flag(own, "evaluation_asked", isEvaluationAsked);
    isEvaluationAnnounced = flag(own, "evaluation_announced", isEvaluationAnnounced);
    isEpochOpen = flag(own, "epoch_open", isEpochOpen);
    epoch = Math.toIntExact(own.number("epoch", epoch));
    requests.remember(own.part("wishes")); // As earlier versions call them.
    rememberLogged(own.part("logged"));
    rememberEach(state, own);
    if (!state.isSaving()) {
      raise(); // The window that requests wait for may have begun.
    }
  }

  private static boolean flag(State state, String name, boolean value) {
    return state.number(name, value ? 1 : 0) == 1;
  }

  private void rememberLogged(State state) {
    var names = state.text("names", String.join("\n", logged.keySet())).lines().toList();
    var values = new LinkedHashMap<String, Double>();
    names.forEach(name -> values.put(name, state.real(name, logged.getOrDefault(name, 0.0))));
    logged.clear();
    logged.putAll(values);
  }

  /** A callback that the saved run did not have starts anew. */
  private void rememberEach(RunState state, State own) {
    Map<String, Integer> seen = new HashMap<>();
    for (var callback : all) {
      var type = callback.getClass().getName();
      var name = type + "/" + seen.merge(type, 1, Integer::sum);
      if (own.has(name)) {
        own.number(name, 1);
        callback.remember(new RunStatePart(state, SECTION + "/" + name));
      }
    }
  }
}
