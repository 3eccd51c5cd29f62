package dev.flotilla.step;

import dev.flotilla.collective.Collective;
import dev.flotilla.exchange.BucketPlan;
import dev.flotilla.exchange.Exchange;
import dev.flotilla.exchange.WindowExchange;
import dev.flotilla.pass.Accumulation;
import dev.flotilla.state.RunState;
import dev.flotilla.state.Stateful;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Who does what in a step: the workers of a plan, and the ordinary ones where no technique has
 * claimed a phase.
 *
 * @param accumulation ends windows
 * @param hasOwnWindows whether a technique decides where windows end
 * @param conditions look at a rank's own gradients
 * @param exchange shares them
 * @param finite finds what is not a number
 * @param refinements work on the gradients of all ranks
 * @param unreached keeps an update from parameters that backward does not reach
 * @param update moves the parameters
 * @param sync follows updates
 * @param isAlone whether ranks exchange gradients with fewer than all
 */
record StepWorkers(
    Accumulation accumulation,
    boolean hasOwnWindows,
    List<GradientFilter> conditions,
    WindowExchange exchange,
    FiniteCheck finite,
    List<GradientFilter> refinements,
    Unreached unreached,
    Update update,
    Sync sync,
    boolean isAlone)
    implements Stateful, AutoCloseable {

  /** Fills the phases that no technique has claimed. */
  static StepWorkers of(Workers made, StepContext context) {
    var sharing = made.exchange().orElseGet(() -> Exchange.dense(context.collective()));
    var peers = sharing.peers(context.collective());
    var exchange = exchange(sharing, peers, made, context);
    var finite = new FiniteCheck(peers);
    var update = made.update().orElseGet(context.update());
    var sync = made.sync().orElse(Sync.NONE);
    sync.follow(update);
    return new StepWorkers(
        made.accumulation().orElse(Accumulation.NONE),
        made.accumulation().isPresent(),
        made.conditions(),
        exchange,
        finite,
        made.refinements(finite),
        new Unreached(context.arena(), context.updateSettings(), peers),
        update,
        sync,
        peers.size() < context.collective().size());
  }

  private static WindowExchange exchange(
      Exchange sharing, Collective peers, Workers made, StepContext context) {
    var buckets = made.layout().orElseGet(() -> BucketPlan.whole(context.arena().layout()));
    boolean hasNoPeer = peers.size() == 1;
    boolean nothingIntervenes = context.endsAtNonFinite() && !made.hasFilters();
    if (!hasNoPeer && buckets.overlapsBackward() && nothingIntervenes) {
      sharing.mayShareEarly();
    }
    return new WindowExchange(sharing, buckets, context.arena(), hasNoPeer, context.notices());
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
  }

  @Override
  public void close() {
    exchange.close();
    sync.close();
    unreached.close();
    update.close();
  }
}
