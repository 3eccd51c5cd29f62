package dev.flotilla.strategy.compress;

import dev.flotilla.arena.Bucket;
import dev.flotilla.arena.Gradients;
import dev.flotilla.arena.Totals;
import dev.flotilla.collective.Collective;
import dev.flotilla.collective.Link;
import dev.flotilla.collective.Reduction;
import dev.flotilla.collective.Traffic;
import dev.flotilla.exchange.ErrorFeedback;
import dev.flotilla.exchange.Exchange;
import dev.flotilla.exchange.ExchangeTimes;
import dev.flotilla.exchange.Stage;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.state.RunState;
import dev.flotilla.step.StepContext;
import dev.flotilla.wire.Dtype;
import dev.flotilla.wire.HalfSum;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/**
 * Exchanges gradients in the way that promises the shortest step, and looks again every few
 * updates.
 */
final class AdaptiveExchange implements Exchange {

  private static final int WARM_UP = 2;
  private static final int WINDOWS = 5;
  private static final int COMPRESSED_WINDOWS = 20;

  private final Compression compression;
  private final SparseExchange sparse;
  private final Collective collective;
  private final Meter meter;
  private final LinkCost cost;
  private final Consumer<String> measured;
  private final Chooser chooser = new Chooser();
  private final StepTimes times = new StepTimes();
  private final HalfSum half;
  private double convertSeconds;
  private double chooseSeconds;
  private double behindBackward;
  private long spentBefore;
  private long windows;
  private long changes;
  private boolean isWindowHalf;

  AdaptiveExchange(
      Compression compression,
      Collective collective,
      Meter meter,
      LinkCost cost,
      Consumer<String> measured) {
    this.compression = compression;
    this.sparse = new SparseExchange(compression);
    this.collective = collective;
    this.meter = meter;
    this.cost = cost;
    this.measured = measured;
    half = new HalfSum(collective, Dtype.BF16, compression.length());
    compression.leave();
  }

  static Exchange on(Compression compression, StepContext context) {
    var collective = context.collective();
    return new AdaptiveExchange(
        compression,
        collective,
        new Meter(collective, context.model().device()),
        compression.cost(),
        context.measured());
  }

  @Override
  public Optional<ErrorFeedback> feedback() {
    return sparse.feedback();
  }

  @Override
  public void begin(Gradients gradients) {
    isWindowHalf = chooser.current() == ExchangeMode.HALF && !isAlone();
    if (isWindowHalf) {
      compression.beginWindow();
      try (var _ = TensorScope.open()) {
        collective.allReduce(gradients.tail(), Reduction.SUM, Traffic.SCALAR).await();
      }
    } else {
      sparse.begin(gradients);
    }
  }

  @Override
  public List<Stage> reduce(Gradients gradients, Bucket bucket) {
    return isWindowHalf
        ? Stage.ofParts(
            half.chunks(() -> gradients.part(bucket), bucket.length(), Traffic.EXCHANGE))
        : sparse.reduce(gradients, bucket);
  }

  @Override
  public Totals end(Gradients gradients) {
    return isWindowHalf ? gradients.totals() : sparse.end(gradients);
  }

  /** One rank sends nothing, and keeps the choice of those that it took the place of. */
  private boolean isAlone() {
    return collective.size() == 1;
  }

  /** All ranks have exchanged the same windows, so all of them come to a decision together. */
  @Override
  public void observed(ExchangeTimes seen) {
    if (isAlone()) {
      return;
    }
    windows++;
    if (windows <= WARM_UP) {
      return;
    }
    times.add(seen);
    boolean isSparse = chooser.current() == ExchangeMode.SPARSE;
    if (times.count() >= (isSparse ? COMPRESSED_WINDOWS : WINDOWS)) {
      decide(seen.buckets().size());
      times.clear();
    }
  }

  private void decide(int buckets) {
    measureProcessor();
    var before = chooser.current();
    var link = meter.link();
    double[] common = meter.largest(times.step(), behindBackward, convertSeconds, chooseSeconds);
    var load = new Workload(common[1], buckets, cost.elements(), common[2], common[3]);
    var seconds = load.predict(EnumSet.allOf(ExchangeMode.class), link, cost);
    // The rest of the step is the same in any mode: computing, and waiting for slower ranks.
    double rest = Math.max(0, common[0] - seconds.getOrDefault(before, 0.0));
    seconds.replaceAll((_, exchange) -> rest + exchange);
    boolean isFirst = !chooser.hasChosen();
    if (chooser.decide(seconds)) {
      change(before);
    }
    if (isFirst || chooser.current() != before) {
      say(seconds, link, rest);
    }
  }

  /** By a trial at first; a compressed update shows by itself what choosing takes. */
  private void measureProcessor() {
    if (chooseSeconds == 0) {
      chooseSeconds = meter.choose(compression.settings(), compression.rule()) * cost.elements();
      convertSeconds = meter.convert() * cost.elements();
    }
    long spent = compression.record().nanos();
    if (chooser.current() == ExchangeMode.SPARSE) {
      chooseSeconds = (spent - spentBefore) / 1e9 / times.count();
    } else {
      behindBackward = times.backward();
    }
    spentBefore = spent;
  }

  private void change(ExchangeMode before) {
    changes++;
    if (chooser.current() == ExchangeMode.SPARSE) {
      compression.begin();
    } else if (before == ExchangeMode.SPARSE) {
      compression.leave();
    }
  }

  private void say(Map<ExchangeMode, Double> seconds, Link link, double rest) {
    String predictions =
        seconds.entrySet().stream()
            .map(e -> e.getKey().words() + " " + millis(e.getValue()))
            .collect(Collectors.joining(", "));
    double rate = 1 / link.secondsPerByteSent(collective.size());
    measured.accept(
        String.format(
            Locale.ROOT,
            "exchange: %s; per update: %s (%s of it in any case, link %.1f MB/s and %s)",
            chooser.current().words(),
            predictions,
            millis(rest),
            rate / 1e6,
            millis(link.latency())));
  }

  private static String millis(double seconds) {
    return String.format(Locale.ROOT, "%.1f ms", seconds * 1e3);
  }

  @Override
  public void remember(RunState state) {
    var shared = state.shared().part("exchange");
    var mode = ExchangeMode.valueOf(shared.text("mode", chooser.current().name()));
    chooser.current(mode, shared.number("chosen", chooser.hasChosen() ? 1 : 0) == 1);
    windows = shared.number("windows", windows);
    changes = shared.number("changes", changes);
    if (!state.isSaving()) {
      times.clear();
    }
    compression.remember(state);
  }

  @Override
  public Map<String, Object> metrics() {
    Map<String, Object> metrics = new LinkedHashMap<>(compression.metrics());
    metrics.put("exchange_mode", chooser.current().words());
    metrics.put("exchange_changes", changes);
    return metrics;
  }

  @Override
  public void close() {
    half.close();
  }
}
