package dev.flotilla.collective;

import dev.flotilla.memory.ComputeDevice;
import dev.flotilla.memory.TensorScope;
import java.time.Duration;
import java.util.function.BiFunction;
import org.bytedeco.pytorch.NoGradGuard;
import org.bytedeco.pytorch.Tensor;

/**
 * Lets tensors of a GPU take part in the collectives that Gloo knows for main memory only: they go
 * through pinned memory of the host.
 *
 * <p>Reductions and broadcasts pass: Gloo copies by itself there.
 */
record HostStaging(Collective inner) implements Collective {

  @Override
  public int rank() {
    return inner.rank();
  }

  @Override
  public int size() {
    return inner.size();
  }

  @Override
  public Pending allReduce(Tensor tensor, Reduction reduction, Traffic traffic) {
    return inner.allReduce(tensor, reduction, traffic);
  }

  @Override
  public Pending broadcast(Tensor tensor, int root, Traffic traffic) {
    return inner.broadcast(tensor, root, traffic);
  }

  @Override
  public Pending allGather(Tensor whole, Tensor part, Traffic traffic) {
    return whole.is_cuda()
        ? staged(whole, part, (all, own) -> inner.allGather(all, own, traffic))
        : inner.allGather(whole, part, traffic);
  }

  @Override
  public Pending allGather(Tensor whole, Tensor own, RankSlices slices, Traffic traffic) {
    return whole.is_cuda()
        ? staged(whole, own, (all, part) -> inner.allGather(all, part, slices, traffic))
        : inner.allGather(whole, own, slices, traffic);
  }

  @Override
  public Pending reduceScatter(Tensor own, Tensor whole, RankSlices slices, Traffic traffic) {
    return whole.is_cuda()
        ? staged(own, whole, (part, all) -> inner.reduceScatter(part, all, slices, traffic))
        : inner.reduceScatter(own, whole, slices, traffic);
  }

  @Override
  public Pending allToAll(Tensor output, Tensor input, Traffic traffic) {
    return output.is_cuda()
        ? staged(output, input, (out, in) -> inner.allToAll(out, in, traffic))
        : inner.allToAll(output, input, traffic);
  }

  private static Pending staged(
      Tensor target, Tensor source, BiFunction<Tensor, Tensor, Pending> operation) {
    try (var _ = TensorScope.open();
        var _ = new NoGradGuard()) {
      var sent = TensorScope.keep(ComputeDevice.CPU.bring(source).pin_memory());
      var received = TensorScope.keep(hostLike(target).pin_memory());
      // A view of its own: the caller's may be gone when the operation is awaited.
      var place = TensorScope.keep(new Tensor(target));
      var pending = operation.apply(received, sent);
      return () -> {
        try (var _ = new NoGradGuard()) {
          pending.await();
          place.copy_(received);
        } finally {
          TensorScope.free(sent);
          TensorScope.free(received);
          TensorScope.free(place);
        }
      };
    }
  }

  private static Tensor hostLike(Tensor tensor) {
    return ComputeDevice.CPU.empty(tensor.scalar_type().intern(), tensor.shape());
  }

  @Override
  public void barrier() {
    inner.barrier();
  }

  @Override
  public Collective subgroup(int... ranks) {
    return new HostStaging(inner.subgroup(ranks));
  }

  @Override
  public Duration timeout() {
    return inner.timeout();
  }

  @Override
  public Collective withTimeout(Duration timeout) {
    return new HostStaging(inner.withTimeout(timeout));
  }

  @Override
  public KeyValueStore keyValueStore() {
    return inner.keyValueStore();
  }

  @Override
  public TrafficCount count(Traffic traffic) {
    return inner.count(traffic);
  }

  @Override
  public long waitedNanos() {
    return inner.waitedNanos();
  }

  @Override
  public void close() {
    inner.close();
  }
}
