package dev.flotilla.strategy.fusion;

import dev.flotilla.arena.Bucket;
import dev.flotilla.arena.Layout;
import dev.flotilla.collective.Collective;
import dev.flotilla.collective.Link;
import dev.flotilla.exchange.BucketPlan;
import dev.flotilla.exchange.ExchangeTimes;
import dev.flotilla.memory.ComputeDevice;
import dev.flotilla.state.RunState;
import dev.flotilla.step.StepContext;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Consumer;

/** Starts with buckets by size, watches a few windows, and then cuts by what it has measured. */
final class MergedPlan implements BucketPlan {

  /** Windows before the measurement, while the compiler is still at work. */
  private static final int WARM_UP = 5;

  /** Windows that are measured. */
  private static final int MEASURED = 5;

  private final Layout layout;
  private final Collective collective;
  private final ComputeDevice device;
  private final Consumer<String> measured;
  private final List<double[]> arrivals = new ArrayList<>();
  private List<Bucket> buckets;
  private long windows;
  private boolean isFound;

  MergedPlan(List<Bucket> first, StepContext context) {
    this.buckets = first;
    this.layout = context.arena().layout();
    this.collective = context.collective();
    this.device = context.model().device();
    this.measured = context.measured();
  }

  @Override
  public List<Bucket> buckets() {
    return buckets;
  }

  @Override
  public boolean overlapsBackward() {
    return true;
  }

  @Override
  public Optional<String> announcement(int gradients, int reduced, String collectives) {
    return Optional.of(FuseAllReduce.announcement(gradients, reduced, collectives));
  }

  @Override
  public void observed(ExchangeTimes times) {
    windows++;
    if (isFound || windows <= WARM_UP) {
      return;
    }
    arrivals.add(sinceStart(times));
    if (arrivals.size() == MEASURED) {
      find();
    }
  }

  /** A rank without a batch in this window has seen nothing, which counts as zero. */
  private double[] sinceStart(ExchangeTimes times) {
    var seconds = new double[layout.slots().size()];
    for (int i = 0; i < times.arrivals().size(); i++) {
      long arrival = times.arrivals().get(i);
      seconds[i] = arrival == 0 ? 0 : (arrival - times.backwardStart()) / 1e9;
    }
    return seconds;
  }

  private void find() {
    isFound = true;
    var link = Link.measure(collective, device);
    var pieces = Piece.layers(layout);
    // All ranks wait for the slowest, and all must take the same plan.
    var ready = ready(pieces, Link.largest(collective, medians()));
    var cut = new MergedCut(link).cut(pieces, ready, layout.precision().bytes());
    buckets = Bucket.of(layout, cut.ranges());
    double backward = ready[ready.length - 1];
    measured.accept(
        String.format(
            Locale.ROOT,
            "mg_wfbp: an all-reduce takes %.2f ms and 1 ms per %.0f kB; %d gradients in %d"
                + " buckets, the last one predicted %.1f ms after a backward of %.1f ms",
            link.latency() * 1e3,
            1e-6 / link.secondsPerByte(),
            layout.slots().size(),
            buckets.size(),
            (cut.end() - backward) * 1e3,
            backward * 1e3));
    arrivals.clear();
  }

  private double[] medians() {
    var medians = new double[layout.slots().size()];
    for (int slot = 0; slot < medians.length; slot++) {
      int index = slot;
      var sorted = arrivals.stream().mapToDouble(times -> times[index]).sorted().toArray();
      medians[slot] = sorted[sorted.length / 2];
    }
    return medians;
  }

  /** A piece is ready with its last gradient; what never came counts as coming at the end. */
  private static double[] ready(List<Piece> pieces, double[] slots) {
    double end = Arrays.stream(slots).max().orElse(0);
    var ready = new double[pieces.size()];
    double soFar = 0;
    for (int i = 0; i < ready.length; i++) {
      var piece = pieces.get(i);
      for (int slot = piece.firstSlot(); slot < piece.firstSlot() + piece.tensors(); slot++) {
        soFar = Math.max(soFar, slots[slot] == 0 ? end : slots[slot]);
      }
      ready[i] = soFar;
    }
    return ready;
  }

  /** What was measured in another process says nothing about this one. */
  private void takeUpMeasuring(boolean isSaving) {
    if (!isSaving) {
      arrivals.clear();
      windows = Math.min(windows, WARM_UP);
    }
  }

  /** Other buckets would add up three ranks or more in another order, and so to other bits. */
  @Override
  public void remember(RunState state) {
    var shared = state.shared().part("buckets");
    windows = shared.number("windows", windows);
    isFound = shared.number("found", isFound ? 1 : 0) == 1;
    if (!isFound) {
      takeUpMeasuring(state.isSaving());
      return;
    }
    int count = Math.toIntExact(shared.number("count", buckets.size()));
    List<Bucket.Range> known = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      var range = i < buckets.size() ? buckets.get(i).range() : new Bucket.Range(0, 0);
      known.add(
          new Bucket.Range(
              shared.number(i + "/offset", range.offset()),
              shared.number(i + "/length", range.length())));
    }
    buckets = Bucket.of(layout, known);
  }
}
