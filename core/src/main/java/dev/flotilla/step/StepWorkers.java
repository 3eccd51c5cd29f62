package dev.flotilla.step;

import dev.flotilla.collective.Collective;
import dev.flotilla.exchange.BucketPlan;
import dev.flotilla.exchange.DenseExchange;
import dev.flotilla.exchange.Exchange;
import dev.flotilla.exchange.WindowExchange;
import dev.flotilla.pass.Accumulation;
import dev.flotilla.state.RunState;
import dev.flotilla.state.Stateful;
import dev.flotilla.step.Claim.GradientStage;
import java.util.ArrayList;
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

  /** Builds the workers of a plan. */
  static StepWorkers of(StepPlan plan, StepContext context) {
    var windows =
        plan.owner(Claim.Accumulate.class)
            .map(c -> c.worker().apply(context.microBatch(), context.notices()));
    var conditions =
        plan.chain(Claim.Condition.class).stream().map(c -> c.worker().apply(context)).toList();
    Exchange sharing =
        plan.owner(Claim.Share.class)
            .map(c -> c.worker().apply(context))
            .orElseGet(() -> new DenseExchange(context.collective()));
    var peers = sharing.peers(context.collective());
    var exchange = exchange(sharing, peers, plan, context);
    var finite = new FiniteCheck(peers);
    var refinements = refinements(plan.chain(Claim.Refine.class), finite, context);
    Update update =
        plan.owner(Claim.Apply.class)
            .map(c -> c.worker().apply(context))
            .orElseGet(context.update());
    Sync sync =
        plan.owner(Claim.Follow.class).map(c -> c.worker().apply(context)).orElse(Sync.NONE);
    sync.follow(update);
    return new StepWorkers(
        windows.orElse(Accumulation.NONE),
        windows.isPresent(),
        conditions,
        exchange,
        finite,
        refinements,
        new Unreached(context.arena(), context.updateSettings(), peers),
        update,
        sync,
        peers.size() < context.collective().size());
  }

  private static WindowExchange exchange(
      Exchange sharing, Collective peers, StepPlan plan, StepContext context) {
    var buckets =
        plan.owner(Claim.Buckets.class)
            .map(c -> c.worker().apply(context))
            .orElseGet(() -> BucketPlan.whole(context.arena().layout()));
    boolean hasNoPeer = peers.size() == 1;
    if (!hasNoPeer && buckets.overlapsBackward() && nothingIntervenes(plan, context)) {
      sharing.mayShareEarly();
    }
    return new WindowExchange(sharing, buckets, context.arena(), hasNoPeer, context.notices());
  }

  private static boolean nothingIntervenes(StepPlan plan, StepContext context) {
    return context.endsAtNonFinite()
        && plan.chain(Claim.Condition.class).isEmpty()
        && plan.chain(Claim.Refine.class).isEmpty();
  }

  /** Nothing infinite reaches the update; a technique may judge gradients by a vote of its own. */
  private static List<GradientFilter> refinements(
      List<Claim.Refine> claims, FiniteCheck finite, StepContext context) {
    List<GradientFilter> filters = new ArrayList<>();
    boolean isChecked = claims.stream().anyMatch(claim -> claim.stage() == GradientStage.VOTE);
    for (var claim : claims) {
      if (!isChecked && claim.stage().compareTo(GradientStage.VOTE) > 0) {
        filters.add(finite);
        isChecked = true;
      }
      var filter = claim.worker().apply(context);
      filters.add(claim.stage() == GradientStage.VOTE ? finite.watching(filter) : filter);
    }
    if (!isChecked) {
      filters.add(finite);
    }
    return filters;
  }

  /** Returns what techniques have to say in the run's summary. */
  Map<String, Object> figures() {
    Map<String, Object> figures = new LinkedHashMap<>(exchange.figures());
    conditions.forEach(filter -> figures.putAll(filter.figures()));
    refinements.forEach(filter -> figures.putAll(filter.figures()));
    figures.putAll(sync.figures());
    return figures;
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
