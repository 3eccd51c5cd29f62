package dev.flotilla.step;

import dev.flotilla.arena.Layout;
import dev.flotilla.exchange.BucketPlan;
import dev.flotilla.exchange.Exchange;
import dev.flotilla.exchange.GradientSlices;
import dev.flotilla.pass.Accumulation;
import dev.flotilla.pass.CheckpointingPolicy;
import dev.flotilla.pass.ForwardBackward;
import dev.flotilla.step.Claim.ForwardStage;
import dev.flotilla.step.Claim.GradientStage;
import dev.flotilla.wire.Dtype;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The workers that techniques have made for the phases they claim. */
public final class Workers {

  private record Staged<S extends Enum<S>, W>(S stage, W worker) {}

  private final Set<Phase> phases = EnumSet.noneOf(Phase.class);
  private final List<Staged<ForwardStage, ForwardBackward.Layer>> layers = new ArrayList<>();
  private final List<Staged<GradientStage, GradientFilter>> conditions = new ArrayList<>();
  private final List<Staged<GradientStage, GradientFilter>> refinements = new ArrayList<>();
  private @Nullable CheckpointingPolicy checkpointing;
  private @Nullable Boolean poolsOverWindow;
  private @Nullable Accumulation accumulation;
  private @Nullable BucketPlan buckets;
  private @Nullable Function<Dtype, Exchange> exchange;
  private @Nullable Dtype wire;
  private @Nullable GradientSlices slices;
  private @Nullable Update update;
  private @Nullable Sync sync;
  private @Nullable UnaryOperator<Sync> averaging;
  private @Nullable MovingAverage average;

  /** Makes the workers of all techniques of a plan, in the order of their keys. */
  static Workers of(StepPlan plan, StepContext context) {
    var all = new Workers();
    for (var technique : plan.techniques()) {
      var workers = technique.workers(context);
      technique
          .accumulation(context.microBatch(), context.notices())
          .ifPresent(workers::accumulation);
      workers.requireClaimed(technique);
      all.take(workers);
    }
    return all;
  }

  private void requireClaimed(Technique technique) {
    var claimed = EnumSet.noneOf(Phase.class);
    technique.claims().forEach(claim -> claimed.add(claim.phase()));
    if (!claimed.equals(phases)) {
      throw new IllegalStateException(
          "%s claims %s, but makes workers for %s".formatted(technique.key(), claimed, phases));
    }
  }

  private void take(Workers other) {
    layers.addAll(other.layers);
    conditions.addAll(other.conditions);
    refinements.addAll(other.refinements);
    checkpointing = first(checkpointing, other.checkpointing);
    poolsOverWindow = first(poolsOverWindow, other.poolsOverWindow);
    accumulation = first(accumulation, other.accumulation);
    buckets = first(buckets, other.buckets);
    exchange = first(exchange, other.exchange);
    wire = first(wire, other.wire);
    slices = first(slices, other.slices);
    update = first(update, other.update);
    sync = first(sync, other.sync);
    averaging = first(averaging, other.averaging);
    average = first(average, other.average);
  }

  /** The planner has seen to it that a phase with one owner has one. */
  private static <T> @Nullable T first(@Nullable T one, @Nullable T other) {
    return one == null ? other : one;
  }

  /** Adds a layer around forward and backward. */
  public Workers forward(ForwardStage stage, ForwardBackward.Layer layer) {
    layers.add(new Staged<>(stage, layer));
    return with(Phase.FORWARD);
  }

  /** Sets what a forward pass keeps for backward. */
  public Workers checkpointing(CheckpointingPolicy worker) {
    checkpointing = worker;
    return with(Phase.FORWARD);
  }

  /**
   * Lets batches go forward together, so that BatchNorm sees all of them.
   *
   * @param overWindow whether it is those of a whole window
   */
  public Workers pool(boolean overWindow) {
    poolsOverWindow = overWindow;
    return with(Phase.FORWARD);
  }

  private void accumulation(Accumulation worker) {
    accumulation = worker;
    with(Phase.ACCUMULATION);
  }

  /** Adds a filter before the exchange. */
  public Workers condition(GradientStage stage, GradientFilter filter) {
    conditions.add(new Staged<>(stage, filter));
    return with(Phase.CONDITION);
  }

  /** Sets the cut into buckets. */
  public Workers buckets(BucketPlan worker) {
    buckets = worker;
    return with(Phase.BUCKETS);
  }

  /** Sets the numbers on the wire, for an exchange that leaves them open. */
  public Workers wire(Dtype numbers) {
    wire = numbers;
    return with(Phase.EXCHANGE);
  }

  /** Sets the exchange, after which all ranks hold the same gradients. */
  public Workers exchange(Exchange worker) {
    exchange = _ -> worker;
    return with(Phase.EXCHANGE);
  }

  /** Leaves it to others how this rank's peers, who are not all ranks, exchange gradients. */
  public Workers exchangeAmongPeers() {
    return with(Phase.EXCHANGE);
  }

  /**
   * Sets an exchange that leaves each rank a part of the sums.
   *
   * @param worker makes it for the numbers on the wire
   */
  public Workers exchange(Function<Dtype, Exchange> worker, GradientSlices sharedOut) {
    exchange = worker;
    slices = sharedOut;
    return with(Phase.EXCHANGE);
  }

  /** Adds a filter after the exchange. */
  public Workers refine(GradientStage stage, GradientFilter filter) {
    refinements.add(new Staged<>(stage, filter));
    return with(Phase.REFINE);
  }

  /** Sets the update. */
  public Workers update(Update worker) {
    update = worker;
    return with(Phase.UPDATE);
  }

  /** Sets what follows the update. */
  public Workers sync(Sync worker) {
    sync = worker;
    return with(Phase.SYNC);
  }

  /**
   * Sets what averages over ranks that hold other parameters.
   *
   * @param around makes it around what follows an update among those that hold the same
   */
  public Workers averaging(UnaryOperator<Sync> around) {
    averaging = around;
    return with(Phase.SYNC);
  }

  /** Sets what follows the parameters from update to update. */
  public Workers average(MovingAverage worker) {
    average = worker;
    return with(Phase.AVERAGE);
  }

  private Workers with(Phase phase) {
    phases.add(phase);
    return this;
  }

  /** Returns the layers around forward and backward, outermost first. */
  List<ForwardBackward.Layer> layers() {
    return sorted(layers).map(Staged::worker).toList();
  }

  List<GradientFilter> conditions() {
    return sorted(conditions).map(Staged::worker).toList();
  }

  /**
   * Returns the filters after the exchange. Nothing infinite reaches the update; a technique may
   * judge gradients by a vote of its own, which the check then watches.
   */
  List<GradientFilter> refinements(FiniteCheck check) {
    List<Staged<GradientStage, GradientFilter>> all = new ArrayList<>();
    boolean isVotedOn = false;
    for (var filter : refinements) {
      boolean isVote = filter.stage() == GradientStage.VOTE;
      isVotedOn |= isVote;
      all.add(isVote ? new Staged<>(filter.stage(), check.watching(filter.worker())) : filter);
    }
    if (!isVotedOn) {
      all.add(new Staged<>(GradientStage.VOTE, check));
    }
    return sorted(all).map(Staged::worker).toList();
  }

  private static <S extends Enum<S>, W> Stream<Staged<S, W>> sorted(List<Staged<S, W>> workers) {
    Function<Staged<S, W>, S> stage = Staged::stage;
    return workers.stream().sorted(Comparator.comparing(stage));
  }

  boolean hasFilters() {
    return !conditions.isEmpty() || !refinements.isEmpty();
  }

  Optional<CheckpointingPolicy> checkpointing() {
    return Optional.ofNullable(checkpointing);
  }

  /** Returns whether batches go forward together, and if so whether those of a whole window do. */
  Optional<Boolean> poolsOverWindow() {
    return Optional.ofNullable(poolsOverWindow);
  }

  Optional<Accumulation> accumulation() {
    return Optional.ofNullable(accumulation);
  }

  /** Returns the cut into buckets: that of a technique, or one for the whole arena. */
  BucketPlan buckets(Layout layout) {
    return Optional.ofNullable(buckets)
        .or(() -> slices().map(GradientSlices::plan))
        .orElseGet(() -> BucketPlan.whole(layout));
  }

  /** Returns the exchange: that of a technique, or the dense one. */
  Exchange exchange(StepContext context) {
    var numbers = wire == null ? Dtype.FP32 : wire;
    return exchange == null
        ? Exchange.dense(context.peers(), numbers, context.arena().layout())
        : exchange.apply(numbers);
  }

  /** Returns how the exchange shares gradients out, if not every rank gets all of them. */
  Optional<GradientSlices> slices() {
    return Optional.ofNullable(slices);
  }

  Optional<Update> update() {
    return Optional.ofNullable(update);
  }

  /** Returns what follows the update: an average, around what slices need. */
  Sync sync() {
    var inner = sync == null ? Sync.NONE : sync;
    return averaging == null ? inner : averaging.apply(inner);
  }

  Optional<MovingAverage> average() {
    return Optional.ofNullable(average);
  }
}
