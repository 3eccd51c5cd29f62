package dev.flotilla.config;

import dev.flotilla.collective.Collective;
import dev.flotilla.collective.KeyValueStore;
import dev.flotilla.collective.Pending;
import dev.flotilla.collective.RankSlices;
import dev.flotilla.collective.Reduction;
import dev.flotilla.collective.Traffic;
import dev.flotilla.collective.TrafficCount;
import dev.flotilla.memory.TensorScope;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.bytedeco.pytorch.Scalar;
import org.bytedeco.pytorch.Tensor;

/**
 * Lets one process take the memory that a rank of several would, to measure it: the others send
 * nothing, and say what this one says. What comes out of it is of no use.
 */
final class PretendedRanks implements Collective {

  private static final double SMALL = 1e-3;

  private final Collective alone;
  private final int size;
  private final PretendedTraffic traffic;

  /** Pretends that a group of one has more ranks, of which this is the first. */
  PretendedRanks(Collective alone, int size) {
    this(alone, size, new PretendedTraffic(size));
  }

  /** Notes what a rank would send. */
  PretendedRanks(Collective alone, int size, PretendedTraffic traffic) {
    this.alone = alone;
    this.size = size;
    this.traffic = traffic;
  }

  @Override
  public int rank() {
    return 0;
  }

  @Override
  public int size() {
    return size;
  }

  @Override
  public Pending allReduce(Tensor tensor, Reduction reduction, Traffic kind) {
    traffic.allReduce(bytes(tensor));
    return Pending.DONE;
  }

  @Override
  public Pending broadcast(Tensor tensor, int root, Traffic kind) {
    return Pending.DONE;
  }

  @Override
  public Pending allGather(Tensor whole, Tensor part, Traffic kind) {
    traffic.allGather(bytes(part));
    try (var _ = TensorScope.open()) {
      whole.view(size, part.numel()).copy_(part.view(1, part.numel()));
      return Pending.DONE;
    }
  }

  /**
   * Fills what others hold with small numbers: memory that nobody wrote may be NaN, and from zeros
   * come gradients of zero, and momentum that fades to numbers with which a CPU is slow.
   */
  @Override
  public Pending allGather(Tensor whole, Tensor own, RankSlices slices, Traffic kind) {
    traffic.allGatherSlices(bytes(own), (int) own.element_size());
    try (var _ = TensorScope.open()) {
      var place = slices.slice(whole, 0);
      if (!place.is_alias_of(own)) {
        place.copy_(own.view(-1));
      }
      for (int other = 1; other < size; other++) {
        slices.slice(whole, other).fill_(new Scalar(SMALL));
      }
      return Pending.DONE;
    }
  }

  /** Takes the memory of what would be received until somebody awaits it. */
  @Override
  public Pending reduceScatter(Tensor own, Tensor whole, RankSlices slices, Traffic kind) {
    traffic.reduceScatter(bytes(whole) - bytes(own));
    try (var _ = TensorScope.open()) {
      var received = TensorScope.keep(whole.new_empty(size * slices.length(0)));
      received.zero_();
      own.copy_(slices.slice(whole, 0).view_as(own));
      return () -> TensorScope.free(received);
    }
  }

  @Override
  public Pending allToAll(Tensor output, Tensor input, Traffic kind) {
    traffic.allToAll(bytes(input));
    output.copy_(input);
    return Pending.DONE;
  }

  @Override
  public void barrier() {}

  @Override
  public Collective subgroup(int... ranks) {
    return this;
  }

  @Override
  public Duration timeout() {
    return alone.timeout();
  }

  @Override
  public Collective withTimeout(Duration timeout) {
    return this;
  }

  @Override
  public KeyValueStore keyValueStore() {
    return new Echo();
  }

  @Override
  public TrafficCount count(Traffic kind) {
    return alone.count(kind);
  }

  private static long bytes(Tensor tensor) {
    return tensor.numel() * tensor.element_size();
  }

  @Override
  public long waitedNanos() {
    return 0;
  }

  @Override
  public void close() {}

  /** Answers for all ranks with what this one has said last. */
  private static final class Echo implements KeyValueStore {

    private final Map<String, String> values = new HashMap<>();
    private String last = "";

    @Override
    public void set(String key, String value) {
      values.put(key, value);
      last = value;
    }

    @Override
    public Optional<String> get(String key) {
      return Optional.of(values.getOrDefault(key, last)).filter(value -> !value.isEmpty());
    }

    @Override
    public KeyValueStore section(String name) {
      return new Echo();
    }
  }
}
