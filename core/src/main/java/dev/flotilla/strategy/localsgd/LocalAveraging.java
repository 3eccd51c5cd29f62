package dev.flotilla.strategy.localsgd;

import dev.flotilla.collective.Collective;
import dev.flotilla.collective.CollectiveException;
import dev.flotilla.collective.Traffic;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.state.RunState;
import dev.flotilla.step.StepContext;
import dev.flotilla.step.StepOutcome;
import dev.flotilla.step.Sync;
import dev.flotilla.step.Update;
import java.util.Map;
import java.util.Objects;
import java.util.function.Supplier;
import org.bytedeco.pytorch.Tensor;
import org.jspecify.annotations.Nullable;

/**
 * Averages parameters after some updates, at once or behind the next round's updates.
 *
 * <p>Where there is nobody to average with, it only counts; but it remembers what several would, so
 * that any number of ranks can go on from any other.
 */
final class LocalAveraging implements Sync {

  private final Averaging settings;
  private final Interval interval;
  private final StepContext context;
  private final Collective inside;
  private final SyncSteps steps;
  private final RoundLoss loss;
  private final RoundNumbers numbers;
  private final RoundLog log;
  private final MeanWire wire;
  private final MeanWire exact;
  private final SyncTimeout timeout = new SyncTimeout();
  private final boolean isAlone;
  private @Nullable CommonPoint common;
  // Whether all ranks hold the same parameters just now.
  private boolean isCommon = true;
  private boolean isUnderWay;
  private double lastDrift;
  private long roundBegan = System.nanoTime();

  LocalAveraging(Averaging settings, Interval interval, Levels levels, StepContext context) {
    this.settings = settings;
    this.interval = interval;
    this.context = context;
    this.inside = levels.inside();
    this.isAlone = levels.replicas() == 1;
    this.steps = new SyncSteps(settings.beginStep());
    this.loss = new RoundLoss(interval.looksAtLastWindow());
    var waiting = levels.with(timeout);
    this.numbers = new RoundNumbers(waiting.all());
    this.log = new RoundLog(context.events(), levels.all().size(), levels.all().rank());
    this.wire = SplitWire.of(settings.wire(), waiting, context.arena().values().numel());
    this.exact = new PlainWire(waiting, Traffic.SCALAR);
  }

  @Override
  public void follow(Update update) {
    var live = new LiveValues(context.model(), update, settings.momentum());
    common = new CommonPoint(live, settings, inside);
  }

  private CommonPoint common() {
    return Objects.requireNonNull(common);
  }

  @Override
  public boolean letsRanksDiffer() {
    return true;
  }

  @Override
  public boolean isRound() {
    return steps.sinceAverage() == 0;
  }

  @Override
  public boolean comparesAfter(long updates, long every) {
    return isCommon && steps.sinceAverage() == 0 && steps.hasPassedMultiple(every);
  }

  @Override
  public void afterWindow(StepOutcome window) {
    boolean isDue = steps.isDue(interval.updates());
    if (isAlone) {
      steps.averaged();
      return;
    }
    loss.saw(window.totals());
    if (!isDue) {
      isCommon = false;
      advance();
      return;
    }
    long arrived = System.nanoTime();
    double computed = noteRound(arrived);
    if (settings.overlap() && !steps.isStart()) {
      averageBehind(window.lr(), computed, arrived);
    } else {
      averageNow(window.lr(), computed, arrived);
    }
    roundBegan = System.nanoTime();
  }

  /** Returns how long the present round has taken, in seconds. */
  private double noteRound(long now) {
    double seconds = (now - roundBegan) / 1e9;
    timeout.roundTook(seconds);
    timeout.roundsTook(numbers.seconds());
    return seconds;
  }

  /** Halfway through a round its first half should have arrived, on all ranks alike. */
  private void advance() {
    if (isUnderWay && 2 * steps.sinceAverage() >= interval.updates()) {
      wire.advance();
    }
  }

  private void averageNow(double lr, double computed, long arrived) {
    if (wire.takesPieces()) {
      averageByPieces();
    } else {
      depart();
      wire.finish();
      lastDrift = arrive(false);
    }
    numbers.start(loss.end(), lastDrift, computed);
    numbers.finish();
    steps.averaged();
    conclude(lr, arrived);
    isCommon = true;
  }

  /** While a piece is on the wire, others are prepared and taken in. */
  private void averageByPieces() {
    var ranges = common().ranges();
    for (var range : ranges) {
      common().depart(range);
      try (var _ = TensorScope.open()) {
        wire.start(range.of(common().difference()));
      }
    }
    double squared = 0;
    for (var range : ranges) {
      wire.finishFirst();
      squared += common().arrive(range, !steps.isStart(), false);
    }
    lastDrift = Math.sqrt(squared);
  }

  private void depart() {
    common().ranges().forEach(common()::depart);
    wire.start(common().difference());
  }

  /** Returns how far this rank's parameters were from the average. */
  private double arrive(boolean wasBehind) {
    boolean isOuter = wasBehind || !steps.isStart();
    return Math.sqrt(
        common().ranges().stream()
            .mapToDouble(range -> common().arrive(range, isOuter, wasBehind))
            .sum());
  }

  /** Takes in the round before, then sends this one on its way. */
  private void averageBehind(double lr, double computed, long arrived) {
    steps.averaged();
    if (isUnderWay) {
      wire.finish();
      numbers.finish();
      lastDrift = arrive(true);
      conclude(lr, arrived);
    }
    depart();
    numbers.start(loss.end(), lastDrift, computed);
    isUnderWay = true;
    isCommon = false;
  }

  private void conclude(double lr, long arrived) {
    log.add(steps, numbers, (System.nanoTime() - arrived) / 1e9);
    interval.adapt(numbers.totals(), lr, steps.made());
  }

  @Override
  public <T> T whileAveraged(Supplier<T> action) {
    if (isCommon) {
      return action.get();
    }
    try (var _ = TensorScope.open()) {
      Tensor own = parameters().clone();
      averageInPlace();
      T result = action.get();
      parameters().copy_(own);
      return result;
    }
  }

  /** Ranks may differ in other values where their parameters are common. */
  @Override
  public <T> T whileReplaced(Runnable swap, Supplier<T> action) {
    boolean wasCommon = isCommon;
    isCommon = isAlone;
    swap.run();
    T result =
        whileAveraged(
            () -> {
              isCommon = true;
              return action.get();
            });
    swap.run();
    isCommon = wasCommon;
    return result;
  }

  @Override
  public void average() {
    awaitBackground();
    isUnderWay = false;
    if (!isCommon) {
      averageInPlace();
      common().startHere();
      steps.averaged();
      isCommon = true;
    }
  }

  private void averageInPlace() {
    double _ = noteRound(System.nanoTime());
    exact.start(parameters());
    exact.finish();
  }

  private Tensor parameters() {
    return context.arena().values();
  }

  private void awaitBackground() {
    wire.finish();
    numbers.finish();
  }

  @Override
  public Map<String, Object> metrics() {
    return isAlone ? Map.of() : Map.of("localsgd", log.metrics());
  }

  @Override
  public void remember(RunState state) {
    awaitBackground();
    if (isAlone) {
      common().takeAll();
    }
    var shared = state.shared().part("localsgd");
    var own = state.own().part("localsgd");
    steps.remember(shared.part("steps"));
    log.remember(shared.part("rounds"));
    isCommon = shared.number("common", isCommon ? 1 : 0) == 1 || isAlone;
    // Each rank's own: another number of ranks has not seen that round begin.
    isUnderWay = own.number("under_way", isUnderWay ? 1 : 0) == 1;
    lastDrift = own.real("drift", lastDrift);
    numbers.remember(own);
    loss.remember(own);
    common().remember(state);
    interval.remember(state);
    wire.remember(state);
  }

  @Override
  public void close() {
    try {
      awaitBackground();
    } catch (CollectiveException alreadyTold) {
      // The failure that ends the run is on its way to the user.
    }
    wire.close();
    numbers.close();
    if (common != null) {
      common.close();
    }
  }
}
