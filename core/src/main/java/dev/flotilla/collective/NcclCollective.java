package dev.flotilla.collective;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.function.IntToLongFunction;
import java.util.stream.IntStream;
import org.bytedeco.pytorch.Backend;
import org.bytedeco.pytorch.LongVector;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.TensorVector;
import org.bytedeco.pytorch.Work;

/**
 * The collectives of ranks that have a GPU each: what lies there goes from GPU to GPU by NCCL, all
 * else by Gloo.
 */
final class NcclCollective implements Collective {

  private final Collective host;
  private final NcclMember member;
  private final Duration timeout;

  /**
   * Makes the collectives of a group.
   *
   * @param host the same group's collectives of main memory
   */
  NcclCollective(Collective host, NcclMember member, Duration timeout) {
    this.host = host;
    this.member = member;
    this.timeout = timeout;
  }

  @Override
  public int rank() {
    return host.rank();
  }

  @Override
  public int size() {
    return host.size();
  }

  @Override
  public Pending allReduce(Tensor tensor, Reduction reduction, Traffic traffic) {
    if (!tensor.is_cuda()) {
      return host.allReduce(tensor, reduction, traffic);
    }
    TensorChecks.dense(tensor);
    return start(
        Operation.starting("all-reduce", tensor, timeout),
        traffic,
        CostModel.allReduce(size(), TensorChecks.bytes(tensor)),
        group -> group.allreduce(new TensorVector(tensor), member.options().of(reduction)));
  }

  @Override
  public Pending broadcast(Tensor tensor, int root, Traffic traffic) {
    if (!tensor.is_cuda()) {
      return host.broadcast(tensor, root, traffic);
    }
    TensorChecks.dense(tensor);
    TensorChecks.root(root, size());
    return start(
        Operation.starting("broadcast", tensor, timeout),
        traffic,
        CostModel.broadcast(size(), rank(), root, TensorChecks.bytes(tensor)),
        group -> group.broadcast(new TensorVector(tensor), member.options().from(root)));
  }

  @Override
  public Pending allGather(Tensor whole, Tensor part, Traffic traffic) {
    if (!whole.is_cuda()) {
      return host.allGather(whole, part, traffic);
    }
    TensorChecks.gathers(whole, part, size());
    return start(
        Operation.starting("all-gather", part, timeout),
        traffic,
        CostModel.allGather(size(), TensorChecks.bytes(part)),
        group ->
            group._allgather_base(
                Elements.row(whole), Elements.row(part), member.options().allGather()));
  }

  @Override
  public Pending allGather(Tensor whole, Tensor own, RankSlices slices, Traffic traffic) {
    if (!whole.is_cuda()) {
      return host.allGather(whole, own, slices, traffic);
    }
    TensorChecks.slices(whole, own, slices, this);
    if (slices.areEqual()) {
      return allGather(whole, own, traffic);
    }
    // NCCL gathers equal parts alone; each rank's own is broadcast from its place instead.
    Elements.copy(slices.slice(whole, rank()), own);
    List<Function<Backend, Work>> calls = new ArrayList<>();
    for (int root = 0; root < size(); root++) {
      if (slices.length(root) > 0) {
        calls.add(broadcastOf(whole, slices, root));
      }
    }
    return start(
        Operation.starting("all-gather", whole, timeout),
        traffic,
        CostModel.allGather(size(), TensorChecks.bytes(own)),
        calls);
  }

  private Function<Backend, Work> broadcastOf(Tensor whole, RankSlices slices, int root) {
    return group ->
        group.broadcast(new TensorVector(slices.slice(whole, root)), member.options().from(root));
  }

  @Override
  public Pending reduceScatter(Tensor own, Tensor whole, RankSlices slices, Traffic traffic) {
    if (!whole.is_cuda()) {
      return host.reduceScatter(own, whole, slices, traffic);
    }
    TensorChecks.slices(whole, own, slices, this);
    var operation = Operation.starting("reduce-scatter", whole, timeout);
    long sent = CostModel.reduceScatter(TensorChecks.bytes(whole), TensorChecks.bytes(own));
    if (slices.areEqual()) {
      return start(
          operation,
          traffic,
          sent,
          group -> group._reduce_scatter_base(Elements.row(own), Elements.row(whole)));
    }
    return ScatteredSum.of(
        own,
        size(),
        sum ->
            start(
                operation,
                traffic,
                sent,
                group ->
                    group.alltoall_base(
                        sum.received(),
                        Elements.row(whole),
                        lengths(_ -> own.numel()),
                        lengths(slices::length))));
  }

  private LongVector lengths(IntToLongFunction ofRank) {
    return new LongVector(IntStream.range(0, size()).mapToLong(ofRank).toArray());
  }

  @Override
  public Pending allToAll(Tensor output, Tensor input, Traffic traffic) {
    if (!output.is_cuda()) {
      return host.allToAll(output, input, traffic);
    }
    TensorChecks.exchanges(output, input, size());
    return start(
        Operation.starting("all-to-all", input, timeout),
        traffic,
        CostModel.allToAll(size(), TensorChecks.bytes(input)),
        group ->
            group.alltoall_base(
                Elements.row(output), Elements.row(input), new LongVector(), new LongVector()));
  }

  /** Empty tensors are not sent; as all ranks agree on sizes, all of them skip it. */
  private Pending start(
      Operation operation, Traffic traffic, long sent, Function<Backend, Work> call) {
    return start(operation, traffic, sent, List.of(call));
  }

  private Pending start(
      Operation operation, Traffic traffic, long sent, List<Function<Backend, Work>> calls) {
    if (operation.bytes() == 0) {
      return Pending.DONE;
    }
    var pending =
        member.group().start(operation, calls, work -> NcclConnection.await(work, timeout));
    member.ledger().add(traffic, sent);
    return member.ledger().timed(pending);
  }

  @Override
  public void barrier() {
    host.barrier();
  }

  @Override
  public Collective subgroup(int... ranks) {
    var name = member.nextSubgroup();
    var inner = host.subgroup(ranks);
    return inner.size() == 1
        ? inner
        : new NcclCollective(inner, member.subgroup(name, ranks, inner.rank()), timeout);
  }

  @Override
  public Duration timeout() {
    return timeout;
  }

  @Override
  public Collective withTimeout(Duration other) {
    return new NcclCollective(host.withTimeout(other), member, other);
  }

  @Override
  public KeyValueStore keyValueStore() {
    return host.keyValueStore();
  }

  @Override
  public TrafficCount count(Traffic traffic) {
    return host.count(traffic).plus(member.ledger().count(traffic));
  }

  @Override
  public long waitedNanos() {
    return host.waitedNanos() + member.ledger().waitedNanos();
  }

  @Override
  public void close() {
    var closing = new Closing();
    closing.close(member::close);
    closing.close(host::close);
    closing.rethrow();
  }
}
