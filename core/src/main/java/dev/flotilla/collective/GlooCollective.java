package dev.flotilla.collective;

import dev.flotilla.memory.TensorScope;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.function.IntFunction;
import org.bytedeco.pytorch.Backend;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.TensorVector;
import org.bytedeco.pytorch.Work;

/** The collectives of several ranks over Gloo; a view of the group with one timeout. */
final class GlooCollective implements Collective {

  /**
   * What a rank passes on in one step of a ring. Longer tensors are summed in pieces, some of them
   * at once: Gloo's ring leaves the wire idle between its two halves, and another piece uses it.
   */
  private static final long BYTES_OF_STEP = 1 << 20;

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
    try (var _ = TensorScope.open()) {
      return start(
          Operation.starting("all-reduce", tensor, timeout).with(reduction.toString()),
          traffic,
          CostModel.allReduce(size(), bytes),
          pieces(tensor).stream().map(piece -> allReduce(piece, reduction)).toList());
    }
  }

  private Function<Backend, Work> allReduce(Tensor piece, Reduction reduction) {
    return group -> group.allreduce(new TensorVector(piece), options().of(reduction));
  }

  /** What lies on a GPU is copied to the host by Gloo, which is better done at once. */
  private List<Tensor> pieces(Tensor tensor) {
    return tensor.is_cuda() ? List.of(tensor) : Elements.pieces(tensor, size() * BYTES_OF_STEP);
  }

  @Override
  public Pending broadcast(Tensor tensor, int root, Traffic traffic) {
    TensorChecks.dense(tensor);
    TensorChecks.root(root, size());
    long bytes = TensorChecks.bytes(tensor);
    return start(
        Operation.starting("broadcast", tensor, timeout).with("from " + root),
        traffic,
        CostModel.broadcast(size(), rank(), root, bytes),
        group -> group.broadcast(new TensorVector(tensor), options().from(root)));
  }

  @Override
  public Pending allGather(Tensor whole, Tensor part, Traffic traffic) {
    TensorChecks.gathers(whole, part, size());
    long bytes = TensorChecks.bytes(part);
    if (size() == 2) {
      return messages(
          Operation.starting("all-gather", part, timeout),
          traffic,
          CostModel.allGather(size(), bytes),
          new Messages(bytes, from -> slice(whole, from), _ -> part));
    }
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
    return messages(
        Operation.starting("all-to-all", input, timeout),
        traffic,
        CostModel.allToAll(size(), bytes),
        new Messages(bytes / size(), from -> slice(output, from), to -> slice(input, to)));
  }

  @Override
  public Pending allGather(Tensor whole, Tensor own, RankSlices slices, Traffic traffic) {
    TensorChecks.slices(whole, own, slices, this);
    return messages(
        Operation.starting("all-gather", whole, timeout).with("of slices"),
        traffic,
        CostModel.allGather(size(), TensorChecks.bytes(own)),
        new Messages(
            slices.longest() * whole.element_size(),
            from -> slices.slice(whole, from),
            _ -> Elements.row(own)));
  }

  /** Gloo's own moves the bytes of an all-reduce. */
  @Override
  public Pending reduceScatter(Tensor own, Tensor whole, RankSlices slices, Traffic traffic) {
    TensorChecks.slices(whole, own, slices, this);
    return ScatteredSum.of(
        own,
        size(),
        sum ->
            messages(
                Operation.starting("reduce-scatter", whole, timeout),
                traffic,
                CostModel.reduceScatter(TensorChecks.bytes(whole), TensorChecks.bytes(own)),
                new Messages(
                    slices.longest() * whole.element_size(),
                    sum::from,
                    to -> slices.slice(whole, to))));
  }

  /**
   * What each rank sends to each.
   *
   * @param longest bytes of the longest one between any two ranks
   * @param placeOf where this rank receives what another sends
   * @param partFor what this rank sends to another
   */
  private record Messages(long longest, IntFunction<Tensor> placeOf, IntFunction<Tensor> partFor) {}

  /**
   * Sends each rank its own, and receives what they send.
   *
   * <p>All receipts come first, so that both directions of a link are used: Gloo's own all-to-all
   * uses one after the other. Tags are counted for the longest message, so that all ranks count
   * alike.
   */
  private Pending messages(Operation operation, Traffic traffic, long bytes, Messages messages) {
    if (operation.bytes() == 0) {
      return Pending.DONE;
    }
    try (var _ = TensorScope.open()) {
      List<Function<Backend, Work>> receipts = new ArrayList<>();
      List<Function<Backend, Work>> sends = new ArrayList<>();
      long most = Math.ceilDiv(messages.longest(), BYTES_OF_STEP);
      for (int away = 1; away < size(); away++) {
        int from = Math.floorMod(rank() - away, size());
        int to = (rank() + away) % size();
        var received = Elements.pieces(messages.placeOf().apply(from), BYTES_OF_STEP);
        var sent = Elements.pieces(messages.partFor().apply(to), BYTES_OF_STEP);
        for (int i = 0; i < most; i++) {
          int tag = member.group().nextTag();
          if (i < received.size()) {
            var target = received.get(i);
            receipts.add(group -> group.recv(new TensorVector(target), from, tag));
          }
          if (i < sent.size()) {
            var source = sent.get(i);
            sends.add(group -> group.send(new TensorVector(source), to, tag));
          }
        }
      }
      Elements.copy(messages.placeOf().apply(rank()), messages.partFor().apply(rank()));
      receipts.addAll(sends);
      var pending = member.group().startMessages(operation, receipts);
      member.ledger().add(traffic, bytes);
      return member.ledger().timed(pending);
    }
  }

  private Tensor slice(Tensor whole, int rank) {
    long length = whole.numel() / size();
    return Elements.row(whole).narrow(0, rank * length, length);
  }

  private Pending start(
      Operation operation, Traffic traffic, long sent, Function<Backend, Work> call) {
    return start(operation, traffic, sent, List.of(call));
  }

  /** Empty tensors are not sent; as all ranks agree on sizes, all of them skip it. */
  private Pending start(
      Operation operation, Traffic traffic, long sent, List<Function<Backend, Work>> calls) {
    if (operation.bytes() == 0) {
      return Pending.DONE;
    }
    var pending = member.group().start(operation, calls);
    member.ledger().add(traffic, sent);
    return member.ledger().timed(pending);
  }

  @Override
  public void barrier() {
    var operation = Operation.starting("barrier", timeout);
    var pending = member.group().start(operation, List.of(it -> it.barrier(options().barrier())));
    member.ledger().timed(pending).await();
  }

  private NativeOptions options() {
    return member.optionsFor(timeout);
  }

  @Override
  public Collective subgroup(int... ranks) {
    return member.subgroup(ranks);
  }

  @Override
  public Duration timeout() {
    return timeout;
  }

  @Override
  public Collective withTimeout(Duration other) {
    return new GlooCollective(member, member.checked(other), () -> {});
  }

  @Override
  public KeyValueStore keyValueStore() {
    return member.keyValueStore();
  }

  @Override
  public TrafficCount count(Traffic traffic) {
    return member.ledger().count(traffic);
  }

  @Override
  public long waitedNanos() {
    return member.ledger().waitedNanos();
  }

  @Override
  public void close() {
    leave.run();
  }
}
