package dev.flotilla.collective;

import java.time.Duration;
import org.bytedeco.pytorch.Tensor;

/** The collectives of a rank that is alone: they change nothing and cost nothing. */
public final class SoloCollective implements Collective {

  private static final TrafficCount NOTHING = new TrafficCount(0, 0);

  private final KeyValueStore store = new LocalKeyValueStore();

  @Override
  public int rank() {
    return 0;
  }

  @Override
  public int size() {
    return 1;
  }

  @Override
  public Pending allReduce(Tensor tensor, Reduction reduction, Traffic traffic) {
    TensorChecks.dense(tensor);
    return Pending.DONE;
  }

  @Override
  public Pending broadcast(Tensor tensor, int root, Traffic traffic) {
    TensorChecks.dense(tensor);
    TensorChecks.root(root, size());
    return Pending.DONE;
  }

  @Override
  public Pending allGather(Tensor whole, Tensor part, Traffic traffic) {
    TensorChecks.gathers(whole, part, size());
    return copied(whole, part);
  }

  @Override
  public Pending allGather(Tensor whole, Tensor own, RankSlices slices, Traffic traffic) {
    TensorChecks.slices(whole, own, slices, this);
    return copied(whole, own);
  }

  @Override
  public Pending reduceScatter(Tensor own, Tensor whole, RankSlices slices, Traffic traffic) {
    TensorChecks.slices(whole, own, slices, this);
    return copied(own, whole);
  }

  @Override
  public Pending allToAll(Tensor output, Tensor input, Traffic traffic) {
    TensorChecks.exchanges(output, input, size());
    return copied(output, input);
  }

  private static Pending copied(Tensor target, Tensor source) {
    Elements.copy(target, source);
    return Pending.DONE;
  }

  @Override
  public void barrier() {}

  @Override
  public Collective subgroup(int... ranks) {
    SubgroupChecks.check(ranks, size());
    return new SoloCollective();
  }

  @Override
  public Duration timeout() {
    return Duration.ZERO;
  }

  @Override
  public Collective withTimeout(Duration timeout) {
    return this;
  }

  @Override
  public KeyValueStore keyValueStore() {
    return store;
  }

  @Override
  public TrafficCount count(Traffic traffic) {
    return NOTHING;
  }

  @Override
  public long waitedNanos() {
    return 0;
  }

  @Override
  public void close() {}
}
