package dev.flotilla.testkit;

import dev.flotilla.collective.Collective;
import dev.flotilla.collective.KeyValueStore;
import dev.flotilla.collective.Pending;
import dev.flotilla.collective.RankSlices;
import dev.flotilla.collective.Reduction;
import dev.flotilla.collective.Traffic;
import dev.flotilla.collective.TrafficCount;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch.ScalarType;

/**
 * Passes all calls on and remembers them, for tests of who sends what in which order. Views and
 * subgroups record into the same list, which any thread may read.
 */
public final class RecordingCollective implements Collective {

  private final Collective collective;
  private final List<Call> calls;
  private final int group;
  private int subgroups;

  /** Records the calls of a collective. */
  public RecordingCollective(Collective collective) {
    this(collective, new CopyOnWriteArrayList<>(), 0);
  }

  private RecordingCollective(Collective collective, List<Call> calls, int group) {
    this.collective = collective;
    this.calls = calls;
    this.group = group;
  }

  /** Returns a copy of all calls so far. */
  public List<Call> calls() {
    return List.copyOf(calls);
  }

  /** Returns a copy of the calls of one kind of traffic. */
  public List<Call> calls(Traffic traffic) {
    return calls.stream().filter(call -> call.traffic() == traffic).toList();
  }

  /** Forgets all calls so far. */
  public void clear() {
    calls.clear();
  }

  @Override
  public int rank() {
    return collective.rank();
  }

  @Override
  public int size() {
    return collective.size();
  }

  @Override
  public Pending allReduce(Tensor tensor, Reduction reduction, Traffic traffic) {
    record(Kind.ALL_REDUCE, tensor, traffic);
    return collective.allReduce(tensor, reduction, traffic);
  }

  @Override
  public Pending broadcast(Tensor tensor, int root, Traffic traffic) {
    record(Kind.BROADCAST, tensor, traffic);
    return collective.broadcast(tensor, root, traffic);
  }

  @Override
  public Pending allGather(Tensor whole, Tensor part, Traffic traffic) {
    record(Kind.ALL_GATHER, part, traffic);
    return collective.allGather(whole, part, traffic);
  }

  @Override
  public Pending allGather(Tensor whole, Tensor own, RankSlices slices, Traffic traffic) {
    record(Kind.ALL_GATHER, whole, traffic);
    return collective.allGather(whole, own, slices, traffic);
  }

  @Override
  public Pending reduceScatter(Tensor own, Tensor whole, RankSlices slices, Traffic traffic) {
    record(Kind.REDUCE_SCATTER, whole, traffic);
    return collective.reduceScatter(own, whole, slices, traffic);
  }

  @Override
  public Pending allToAll(Tensor output, Tensor input, Traffic traffic) {
    record(Kind.ALL_TO_ALL, input, traffic);
    return collective.allToAll(output, input, traffic);
  }

  private void record(Kind kind, Tensor sent, Traffic traffic) {
    // The binding makes a new enum object at every call; only interned ones can be compared.
    calls.add(new Call(kind, sent.numel(), sent.scalar_type().intern(), traffic, timeout(), group));
  }

  @Override
  public void barrier() {
    collective.barrier();
  }

  @Override
  public Collective subgroup(int... ranks) {
    return new RecordingCollective(collective.subgroup(ranks), calls, 10 * group + ++subgroups);
  }

  @Override
  public Duration timeout() {
    return collective.timeout();
  }

  @Override
  public Collective withTimeout(Duration timeout) {
    return new RecordingCollective(collective.withTimeout(timeout), calls, group);
  }

  @Override
  public KeyValueStore keyValueStore() {
    return collective.keyValueStore();
  }

  @Override
  public TrafficCount count(Traffic traffic) {
    return collective.count(traffic);
  }

  @Override
  public long waitedNanos() {
    return collective.waitedNanos();
  }

  @Override
  public void close() {
    collective.close();
  }

  /** Which operation was called. */
  public enum Kind {
    /** An in-place reduction. */
    ALL_REDUCE,
    /** A copy from one rank to all. */
    BROADCAST,
    /** A gathering of all parts. */
    ALL_GATHER,
    /** A sum of which each rank gets its slice. */
    REDUCE_SCATTER,
    /** An exchange of slices. */
    ALL_TO_ALL
  }

  /**
   * One call.
   *
   * @param kind which operation
   * @param elements number of elements this rank gave; with slices, that of all of them, as ranks
   *     differ in their own
   * @param type their type
   * @param traffic what it was for
   * @param timeout how long it may go without progress
   * @param group 0 for the group that is recorded, another number for each subgroup: calls have an
   *     order within a group only
   */
  public record Call(
      Kind kind, long elements, ScalarType type, Traffic traffic, Duration timeout, int group) {}
}
