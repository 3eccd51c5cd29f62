package dev.flotilla.pass;

import dev.flotilla.collective.Collective;
import dev.flotilla.collective.RankSlices;
import dev.flotilla.collective.Traffic;
import dev.flotilla.memory.NativeView;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.memory.Tensors;
import dev.flotilla.metric.Metric;
import dev.flotilla.metric.MetricValue;
import dev.flotilla.metric.Tally;
import dev.flotilla.model.Answers;
import dev.flotilla.world.MissingNativeException;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import java.util.stream.DoubleStream;
import java.util.stream.IntStream;
import org.bytedeco.pytorch.global.torch;

/** Counts for all metrics of an evaluation, and merges what ranks have counted. */
final class Tallies {

  private final List<Metric> metrics;
  private final List<Tally> own;

  Tallies(List<Metric> metrics) {
    this.metrics = metrics;
    this.own = metrics.stream().map(Metric::start).toList();
  }

  boolean isEmpty() {
    return metrics.isEmpty();
  }

  void update(Answers answers) {
    for (int i = 0; i < own.size(); i++) {
      var tally = own.get(i);
      try (var _ = TensorScope.open()) {
        MissingNativeException.explain(
            () -> {
              tally.update(answers);
              return tally;
            });
      } catch (MissingNativeException absent) {
        throw absent;
      } catch (RuntimeException failure) {
        throw ModelException.inMetric(metrics.get(i).name(), answers, failure);
      }
    }
  }

  /** Returns the values over all ranks, by name; all ranks call it together. */
  SequencedMap<String, MetricValue> overRanks(Collective collective) {
    var merged = collective.size() == 1 || isEmpty() ? own : merge(collective);
    var values = new LinkedHashMap<String, MetricValue>();
    for (int i = 0; i < metrics.size(); i++) {
      values.put(metrics.get(i).name(), MetricValue.of(merged.get(i)));
    }
    return values;
  }

  /** States come in the order of ranks, so that all of them round alike. */
  private List<Tally> merge(Collective collective) {
    int count = metrics.size();
    var lengths = lengths(collective);
    var all = states(collective, lengths);
    var merged = metrics.stream().map(Metric::start).toList();
    int from = 0;
    for (int i = 0; i < lengths.length; i++) {
      int to = from + Math.toIntExact(lengths[i]);
      if (to > from) {
        merged.get(i % count).merge(Arrays.copyOfRange(all, from, to));
      }
      from = to;
    }
    return merged;
  }

  /** Returns the lengths of all states: those of rank 0, then those of rank 1, and so on. */
  private long[] lengths(Collective collective) {
    try (var _ = TensorScope.open()) {
      var part = Tensors.ofLongs(own.stream().mapToLong(it -> it.state().length).toArray());
      var whole = Tensors.empty(torch.ScalarType.Long, (long) own.size() * collective.size());
      collective.allGather(whole, part, Traffic.SCALAR).await();
      return NativeView.of(whole).toArray(ValueLayout.JAVA_LONG);
    }
  }

  private double[] states(Collective collective, long[] lengths) {
    int count = metrics.size();
    var perRank =
        IntStream.range(0, collective.size())
            .mapToLong(rank -> Arrays.stream(lengths, rank * count, (rank + 1) * count).sum())
            .toArray();
    try (var _ = TensorScope.open()) {
      var slices = RankSlices.of(perRank);
      var part = Tensors.ofDoubles(own.stream().flatMapToDouble(Tallies::numbers).toArray());
      var whole = Tensors.empty(torch.ScalarType.Double, slices.elements());
      collective.allGather(whole, part, slices, Traffic.SCALAR).await();
      return NativeView.of(whole).toArray(ValueLayout.JAVA_DOUBLE);
    }
  }

  private static DoubleStream numbers(Tally tally) {
    return Arrays.stream(tally.state());
  }
}
