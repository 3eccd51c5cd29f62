package dev.flotilla.strategy.localsgd;

import dev.flotilla.arena.Bucket;
import dev.flotilla.arena.Layout;
import dev.flotilla.collective.CollectiveException;
import dev.flotilla.state.RunState;
import dev.flotilla.step.StepContext;
import dev.flotilla.step.StepOutcome;
import dev.flotilla.step.Sync;
import dev.flotilla.step.Update;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/**
 * Averages parameters after some updates, at once or behind the next round's updates.
 *
 * <p>Where there is nobody to average with, it only counts; but it remembers what several would, so
 * that any number of ranks can go on from any other.
 *
 * <p>Ranks that hold the same parameters may each update slices of them: then it averages slices,
 * and what it works around gives the others what has changed.
 */
final class LocalAveraging implements Sync {

  private final Averaging settings;
  private final Interval interval;
  private final StepContext context;
  private final Sync inside;
  private final Levels levels;
  private final SyncSteps steps;
  private final RoundLoss loss;
  private final RoundNumbers numbers;
  private final RoundLog log;
  private final Travel travel;
  private final SyncTimeout timeout = new SyncTimeout();
  private final boolean isAlone;
  // Whether all ranks hold the same parameters just now.
  private boolean isCommon = true;
  private boolean isUnderWay;
  private long roundBegan = System.nanoTime();

  /**
   * Averages from now on.
   *
   * @param inside what follows an update among ranks that hold the same parameters
   */
  LocalAveraging(Averaging settings, Interval interval, StepContext context, Sync inside) {
    this.settings = settings;
    this.interval = interval;
    this.context = context;
    this.inside = inside;
    this.levels = Levels.join(settings.group(), context, isSliced());
    this.isAlone = levels.replicas() == 1;
    this.steps = new SyncSteps(settings.beginStep());
    this.loss = new RoundLoss(interval.looksAtLastWindow());
    var waiting = levels.with(timeout);
    this.numbers = new RoundNumbers(waiting.all());
    this.log = new RoundLog(context.events(), levels.all().size(), levels.all().rank());
    long parameters = updated(layout()).stream().mapToLong(Bucket.Range::length).sum();
    this.travel = new Travel(settings, waiting, parameters);
  }

  @Override
  public void follow(Update update) {
    inside.follow(update);
    var live = new LiveValues(context.model(), updated(layout()), update, settings.momentum());
    travel.follow(new CommonPoint(live, settings, levels, isSliced()));
  }

  private boolean isSliced() {
    return inside.sharesOut();
  }

  private Layout layout() {
    return context.arena().layout();
  }

  @Override
  public List<Bucket.Range> updated(Layout layout) {
    return inside.updated(layout);
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
    boolean hasWhole = inside.comparesAfter(0, every);
    return hasWhole && isCommon && steps.sinceAverage() == 0 && steps.hasPassedMultiple(every);
  }

  @Override
  public void afterWindow(StepOutcome window) {
    averageIfDue(window);
    inside.afterWindow(window);
  }

  private void averageIfDue(StepOutcome window) {
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
      travel.advance();
    }
  }

  private void averageNow(double lr, double computed, long arrived) {
    travel.average(!steps.isStart());
    numbers.start(loss.end(), travel.drift(), computed);
    numbers.finish();
    steps.averaged();
    conclude(lr, arrived);
    isCommon = true;
  }

  /** Takes in the round before, then sends this one on its way. */
  private void averageBehind(double lr, double computed, long arrived) {
    steps.averaged();
    if (isUnderWay) {
      travel.await();
      numbers.finish();
      travel.arriveBehind();
      conclude(lr, arrived);
    }
    travel.depart();
    numbers.start(loss.end(), travel.drift(), computed);
    isUnderWay = true;
    isCommon = false;
  }

  private void conclude(double lr, long arrived) {
    log.add(steps, numbers, (System.nanoTime() - arrived) / 1e9);
    interval.adapt(numbers.totals(), lr, steps.made());
  }

  @Override
  public <T> T whileAveraged(Supplier<T> action) {
    return whileCommon(() -> inside.whileAveraged(action));
  }

  @Override
  public <T> T whileEvaluated(Supplier<T> passes) {
    return whileCommon(() -> inside.whileEvaluated(passes));
  }

  private <T> T whileCommon(Supplier<T> action) {
    if (isCommon) {
      return action.get();
    }
    try (var average = new AverageInPlace(travel.parameters(), this::averageInPlace)) {
      return inside.whileReplaced(average, action);
    }
  }

  /** Ranks may differ in other values where their parameters are common. */
  @Override
  public <T> T whileReplaced(Runnable swap, Supplier<T> action) {
    boolean wasCommon = isCommon;
    isCommon = isAlone;
    T result =
        inside.whileReplaced(
            swap,
            () ->
                whileCommon(
                    () -> {
                      isCommon = true;
                      return action.get();
                    }));
    isCommon = wasCommon;
    return result;
  }

  @Override
  public void change(Runnable change) {
    inside.change(change);
  }

  @Override
  public void average() {
    averageForGood();
    inside.average();
  }

  @Override
  public void end() {
    averageForGood();
    inside.end();
  }

  private void averageForGood() {
    awaitBackground();
    isUnderWay = false;
    if (!isCommon) {
      inside.change(this::averageInPlace);
      travel.common().startHere();
      steps.averaged();
      isCommon = true;
    }
  }

  private void averageInPlace() {
    double _ = noteRound(System.nanoTime());
    travel.averageExactly();
  }

  private void awaitBackground() {
    travel.await();
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
      travel.common().takeAll();
    }
    var shared = state.shared().part("localsgd");
    var own = state.own().part("localsgd");
    steps.remember(shared.part("steps"));
    log.remember(shared.part("rounds"));
    isCommon = shared.number("common", isCommon ? 1 : 0) == 1 || isAlone;
    // Each rank's own: another number of ranks has not seen that round begin.
    isUnderWay = own.number("under_way", isUnderWay ? 1 : 0) == 1;
    numbers.remember(own);
    loss.remember(own);
    travel.remember(state);
    interval.remember(state);
    inside.remember(state);
  }

  @Override
  public void close() {
    try {
      awaitBackground();
    } catch (CollectiveException alreadyTold) {
      // The failure that ends the run is on its way to the user.
    }
    travel.close();
    numbers.close();
    inside.close();
  }
}
