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
import org.bytedeco.pytorch.Tensor;

/**
 * Lets one process take the memory that a rank of several would, to measure it: the others send
 * nothing, and say what this one says. What comes out of it is of no use.
 */
final class PretendedRanks implements Collective {

  private final Collective alone;
  private final int size;

  /** Pretends that a group of one has more ranks, of which this is the first. */
  PretendedRanks(Collective alone, int size) {
    this.alone = alone;
    this.size = size;
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
  public Pending allReduce(Tensor tensor, Reduction reduction, Traffic traffic) {
    return Pending.DONE;
  }

  @Override
  public Pending broadcast(Tensor tensor, int root, Traffic traffic) {
    return Pending.DONE;
  }

  @Override
  public Pending allGather(Tensor whole, Tensor part, Traffic traffic) {
    try (var _ = TensorScope.open()) {
      whole.view(size, part.numel()).copy_(part.view(1, part.numel()));
      return Pending.DONE;
    }
  }

  /** Fills what has been allocated for it with zeros: memory that nobody wrote may be NaN. */
  @Override
  public Pending allGather(Tensor whole, Tensor own, RankSlices slices, Traffic traffic) {
    try (var _ = TensorScope.open()) {
      var place = slices.slice(whole, 0);
      if (!place.is_alias_of(own)) {
        whole.zero_();
        place.copy_(own.view(-1));
      }
      return Pending.DONE;
    }
  }

  /** Takes the memory of what would be received until somebody awaits it. */
  @Override
  public Pending reduceScatter(Tensor own, Tensor whole, RankSlices slices, Traffic traffic) {
    try (var _ = TensorScope.open()) {
      var received = TensorScope.keep(whole.new_empty(size * slices.length(0)));
      received.zero_();
      own.copy_(slices.slice(whole, 0).view_as(own));
      return () -> TensorScope.free(received);
    }
  }

  @Override
  public Pending allToAll(Tensor output, Tensor input, Traffic traffic) {
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
  public TrafficCount count(Traffic traffic) {
    return alone.count(traffic);
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
