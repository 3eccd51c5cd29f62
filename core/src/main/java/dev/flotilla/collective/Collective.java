package dev.flotilla.collective;

import java.time.Duration;
import org.bytedeco.pytorch.Tensor;

/**
 * The collectives of one group of ranks.
 *
 * <p>Not thread-safe: one thread of a rank issues all calls, in the same order on all ranks.
 * Tensors are dense. A started operation must be awaited; the tensors must stay alive until then.
 */
public interface Collective extends AutoCloseable {

  /** Returns the number of this rank within the group. */
  int rank();

  /** Returns the number of ranks of the group. */
  int size();

  /** Starts an in-place reduction over all ranks. */
  Pending allReduce(Tensor tensor, Reduction reduction, Traffic traffic);

  /** Starts an in-place copy of the root's tensor to all ranks. */
  Pending broadcast(Tensor tensor, int root, Traffic traffic);

  /**
   * Starts a gather of equal parts; {@code whole} holds size times the elements of {@code part}.
   */
  Pending allGather(Tensor whole, Tensor part, Traffic traffic);

  /**
   * Starts a gather of slices of any length; {@code own} is this rank's, and may lie at its place
   * in {@code whole}.
   */
  Pending allGather(Tensor whole, Tensor own, RankSlices slices, Traffic traffic);

  /**
   * Starts a sum over ranks of which each rank gets its slice, in {@code own}; {@code whole} stays
   * as it is. In main memory the order of the sum is that of ranks.
   */
  Pending reduceScatter(Tensor own, Tensor whole, RankSlices slices, Traffic traffic);

  /** Starts an exchange of equal slices: slice j of {@code input} goes to rank j. */
  Pending allToAll(Tensor output, Tensor input, Traffic traffic);

  /** Waits until all ranks are here. */
  void barrier();

  /**
   * Makes a group of some ranks; every rank of this group must call it with the same list, and gets
   * its member view, or a group of one if it is not in the list.
   */
  Collective subgroup(int... ranks);

  /** Returns how long an operation may go without progress; zero for a group of one. */
  Duration timeout();

  /**
   * Returns the same group with another timeout per operation. It is a view: closing it does
   * nothing, and it ends with the group.
   */
  Collective withTimeout(Duration timeout);

  /** Returns where the ranks of this group leave texts for each other, outside the collectives. */
  KeyValueStore keyValueStore();

  /** Returns what this rank has sent so far, over this group and its views. */
  TrafficCount count(Traffic traffic);

  /**
   * Returns for how long this rank has waited for operations of this group and its views so far, in
   * nanoseconds. Operations end on all ranks at about the same time, so the one that comes last
   * waits least.
   */
  long waitedNanos();

  /**
   * Leaves the group and its subgroups; a second call does nothing.
   *
   * @throws IllegalStateException after closing, if an operation was started and never awaited
   */
  @Override
  void close();
}
