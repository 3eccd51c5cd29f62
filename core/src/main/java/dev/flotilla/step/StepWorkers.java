package dev.flotilla.step;

import dev.flotilla.exchange.BucketPlan;
import dev.flotilla.exchange.GradientSlices;
import dev.flotilla.exchange.WindowExchange;
import dev.flotilla.pass.Accumulation;
import dev.flotilla.pass.RunningStatistics;
import dev.flotilla.state.RunState;
import dev.flotilla.state.Stateful;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Who does what in a step: the workers of a plan, and the ordinary ones where no technique has
 * claimed a phase.
 *
 * @param accumulation ends windows
 * @param conditions look at a rank's own gradients
 * @param exchange reduces them over ranks
 * @param mean makes their sum a mean
 * @param finite finds what is not a number
 * @param refinements work on the gradients of all ranks
 * @param unreached keeps an update from parameters that backward does not reach
 * @param update moves the parameters
 * @param sync follows updates
 * @param average follows the parameters
 * @param isAlone whether ranks exchange gradients with fewer than all
 */
record StepWorkers(
    Accumulation accumulation,
    List<GradientFilter> conditions,
    WindowExchange exchange,
    WindowMean mean,
    FiniteCheck finite,
    List<GradientFilter> refinements,
    Unreached unreached,
    Update update,
    Sync sync,
    MovingAverage average,
    boolean isAlone)
    implements Stateful, AutoCloseable {

  /**
   * Fills the phases that no technique has claimed.
   *
   * @param statistics running statistics of batches
   */
  static StepWorkers of(Workers made, StepContext context, RunningStatistics statistics) {
    var peers = context.peers();
    var arena = context.arena();
    var settings = context.updateSettings();
    var accumulation = made.accumulation().orElse(Accumulation.NONE);
    var unreached = new Unreached(arena, settings, peers);
    var mean = new WindowMean(accumulation, unreached);
    var finite = new FiniteCheck(arena.gradients(), peers);
    var update = made.update().orElseGet(context.update());
    var sync = made.sync();
    sync.follow(update);
    var average = made.average().orElse(MovingAverage.NONE);
    average.follow(sync, statistics);
    return new StepWorkers(
        accumulation,
        made.conditions(),
        exchange(made, context, mean),
        mean,
        finite,
        FrozenGradients.before(made.refinements(finite), arena.layout(), settings),
        unreached,
        update,
        sync,
        average,
        peers.size() < context.collective().size());
  }

  private static WindowExchange exchange(Workers made, StepContext context, WindowMean mean) {
    var plan = made.buckets(context.arena().layout());
    if (context.collective().size() > 1) {
      announce(plan, made.slices(), context);
    }
    return new WindowExchange(
        made.exchange(context),
        plan,
        made.slices(),
        context.arena(),
        context.peers().size() == 1,
        context.endsAtNonFinite() && !made.hasFilters(),
        mean,
        context.notices());
  }

  private static void announce(
      BucketPlan plan, Optional<GradientSlices> slices, StepContext context) {
    var reduced = slices.map(it -> it.cut(plan.buckets())).orElseGet(plan::buckets);
    plan.announcement(
            context.arena().layout().slots().size(),
            reduced.size(),
            slices.isPresent() ? "reduce-scatters" : "all-reduces")
        .ifPresent(context.notices());
  }

  /** Returns what techniques have to say in the run's summary. */
  Map<String, Object> metrics() {
    Map<String, Object> metrics = new LinkedHashMap<>(exchange.metrics());
    conditions.forEach(filter -> metrics.putAll(filter.metrics()));
    refinements.forEach(filter -> metrics.putAll(filter.metrics()));
    metrics.putAll(sync.metrics());
    return metrics;
  }

  @Override
  public void remember(RunState state) {
    var ofReplica = sync.letsRanksDiffer() ? new OwnReplica(state) : state;
    conditions.forEach(filter -> filter.remember(ofReplica));
    exchange.remember(ofReplica);
    refinements.forEach(filter -> filter.remember(ofReplica));
    unreached.remember(ofReplica);
    update.remember(ofReplica);
    sync.remember(state);
    average.remember(state);
  }

  @Override
  public void close() {
    exchange.close();
    average.close();
    sync.close();
    unreached.close();
    update.close();
  }
}
