package dev.flotilla.strategy.localsgd;

import dev.flotilla.collective.Collective;
import dev.flotilla.collective.KeyValueStore;
import dev.flotilla.collective.Pending;
import dev.flotilla.collective.RankSlices;
import dev.flotilla.collective.Reduction;
import dev.flotilla.collective.Traffic;
import dev.flotilla.collective.TrafficCount;
import java.time.Duration;
import org.bytedeco.pytorch.Tensor;

/** A view of a group whose operations wait as long as the rounds ask for. */
record SyncTimeoutGroup(Collective group, SyncTimeout syncTimeout) implements Collective {

  private Collective now() {
    return group.size() == 1 ? group : group.withTimeout(timeout());
  }

  @Override
  public int rank() {
    return group.rank();
  }

  @Override
  public int size() {
    return group.size();
  }

  @Override
  public Pending allReduce(Tensor tensor, Reduction reduction, Traffic traffic) {
    return now().allReduce(tensor, reduction, traffic);
  }

  @Override
  public Pending broadcast(Tensor tensor, int root, Traffic traffic) {
    return now().broadcast(tensor, root, traffic);
  }

  @Override
  public Pending allGather(Tensor whole, Tensor part, Traffic traffic) {
    return now().allGather(whole, part, traffic);
  }

  @Override
  public Pending allGather(Tensor whole, Tensor own, RankSlices slices, Traffic traffic) {
    return now().allGather(whole, own, slices, traffic);
  }

  @Override
  public Pending reduceScatter(Tensor own, Tensor whole, RankSlices slices, Traffic traffic) {
    return now().reduceScatter(own, whole, slices, traffic);
  }

  @Override
  public Pending allToAll(Tensor output, Tensor input, Traffic traffic) {
    return now().allToAll(output, input, traffic);
  }

  @Override
  public void barrier() {
    now().barrier();
  }

  @Override
  public Collective subgroup(int... ranks) {
    return new SyncTimeoutGroup(group.subgroup(ranks), syncTimeout);
  }

  @Override
  public Duration timeout() {
    return group.size() == 1 ? group.timeout() : syncTimeout.longest(group.timeout());
  }

  @Override
  public Collective withTimeout(Duration timeout) {
    return group.withTimeout(timeout);
  }

  @Override
  public KeyValueStore keyValueStore() {
    return group.keyValueStore();
  }

  @Override
  public TrafficCount count(Traffic traffic) {
    return group.count(traffic);
  }

  @Override
  public long waitedNanos() {
    return group.waitedNanos();
  }

  /** Does nothing: it is a view. */
  @Override
  public void close() {}
}
