package dev.flotilla.collective;

import java.time.Duration;
import java.util.function.Function;
import org.bytedeco.pytorch.ProcessGroupGloo;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.TensorVector;
import org.bytedeco.pytorch.Work;

/** The collectives of several ranks over Gloo; a view of the group with one timeout. */
final class GlooCollective implements Collective {

  private final GlooMember member;
  private final Duration timeout;
  private final Runnable leave;

  /** Makes the collectives of a group that ends when they are closed. */
  GlooCollective(GlooMember member) {
    this(member, member.timeout(), member::close);
  }

  /** Makes the collectives of a group that is left in some way. */
  GlooCollective(GlooMember member, Duration timeout, Runnable leave) {
    this.member = member;
    this.timeout = timeout;
    this.leave = leave;
  }

  @Override
  public int rank() {
    return member.rank();
  }

  @Override
  public int size() {
    return member.size();
  }

  @Override
  public Pending allReduce(Tensor tensor, Reduction reduction, Traffic traffic) {
    TensorChecks.dense(tensor);
    long bytes = TensorChecks.bytes(tensor);
    return start(
        Operation.starting("all-reduce", tensor, timeout),
        traffic,
        CostModel.allReduce(size(), bytes),
        group -> group.allreduce(new TensorVector(tensor), options().of(reduction)));
  }

  @Override
  public Pending broadcast(Tensor tensor, int root, Traffic traffic) {
    TensorChecks.dense(tensor);
    TensorChecks.root(root, size());
    long bytes = TensorChecks.bytes(tensor);
    return start(
        Operation.starting("broadcast", tensor, timeout),
        traffic,
        CostModel.broadcast(size(), rank(), root, bytes),
        group -> group.broadcast(new TensorVector(tensor), options().from(root)));
  }

  @Override
  public Pending allGather(Tensor whole, Tensor part, Traffic traffic) {
    TensorChecks.gathers(whole, part, size());
    long bytes = TensorChecks.bytes(part);
    return start(
        Operation.starting("all-gather", part, timeout),
        traffic,
        CostModel.allGather(size(), bytes),
        group ->
            group._allgather_base(Elements.row(whole), Elements.row(part), options().allGather()));
  }

  @Override
  public Pending allToAll(Tensor output, Tensor input, Traffic traffic) {
    TensorChecks.exchanges(output, input, size());
    long bytes = TensorChecks.bytes(input);
    return start(
        Operation.starting("all-to-all", input, timeout),
        traffic,
        CostModel.allToAll(size(), bytes),
        group ->
            group.alltoall_base(
                Elements.row(output),
                Elements.row(input),
                options().equalSlices(),
                options().equalSlices(),
                options().allToAll()));
  }

  /** Empty tensors are not sent; as all ranks agree on sizes, all of them skip it. */
  private Pending start(
      Operation operation, Traffic traffic, long sent, Function<ProcessGroupGloo, Work> call) {
    if (operation.bytes() == 0) {
      return Pending.DONE;
    }
    var pending = member.group().start(operation, call);
    member.ledger().add(traffic, sent);
    return pending;
  }

  @Override
  public void barrier() {
    var operation = Operation.starting("barrier", timeout);
    member.group().start(operation, group -> group.barrier(options().barrier())).await();
  }

  private GlooOptions options() {
    return member.optionsFor(timeout);
  }

  @Override
  public Collective subgroup(int... ranks) {
    return member.subgroup(ranks);
  }

  @Override
  public Collective withTimeout(Duration other) {
    return new GlooCollective(member, member.checked(other), () -> {});
  }

  @Override
  public Noticeboard noticeboard() {
    return member.board();
  }

  @Override
  public TrafficCount count(Traffic traffic) {
    return member.ledger().count(traffic);
  }

  @Override
  public void close() {
    leave.run();
  }
}
