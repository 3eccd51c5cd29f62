package dev.flotilla.strategy.powersgd;

import dev.flotilla.arena.Bucket;
import dev.flotilla.arena.Gradients;
import dev.flotilla.arena.Slot;
import dev.flotilla.arena.Totals;
import dev.flotilla.collective.Collective;
import dev.flotilla.exchange.ErrorFeedback;
import dev.flotilla.exchange.Exchange;
import dev.flotilla.exchange.Stage;
import dev.flotilla.state.RunState;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * Exchanges matrices as factors, by two all-reduces per bucket of which the second needs the result
 * of the first: while one bucket's is on the wire, the factors of another are computed.
 *
 * <p>Error feedback keeps what is not sent. Before compression begins it is a dense exchange, and
 * on one rank too, which only takes up what several ranks have kept.
 */
final class LowRankExchange implements Exchange {

  private final PowerSgd settings;
  private final Collective collective;
  private final Gradients gradients;
  private final Exchange dense;
  private final ErrorFeedback feedback;
  private final FactorCost cost;
  private final Map<Slot, LowRankMatrix> matrices = new LinkedHashMap<>();
  private final Map<Bucket.Range, LowRankBucket> buckets = new LinkedHashMap<>();
  private long updates;
  private long compressed;
  private boolean keepsSomething;

  LowRankExchange(
      PowerSgd settings, Gradients gradients, Collective collective, Consumer<String> notices) {
    this.settings = settings;
    this.gradients = gradients;
    this.collective = collective;
    dense = Exchange.dense(collective);
    feedback = new ErrorFeedback(collective);
    cost = FactorCost.of(gradients.layout(), settings, collective.size());
    for (var slot : gradients.layout().slots()) {
      FactorShape.of(slot, settings)
          .ifPresent(shape -> matrices.put(slot, new LowRankMatrix(slot, shape, gradients)));
    }
    if (!isAlone()) {
      notices.accept(
          "powersgd: %d of %d parameters are sent as factors, %s"
              .formatted(matrices.size(), gradients.layout().slots().size(), cost));
    }
  }

  Collection<LowRankMatrix> matrices() {
    return matrices.values();
  }

  private boolean isAlone() {
    return collective.size() == 1;
  }

  @Override
  public Optional<ErrorFeedback> feedback() {
    return hasFeedback() ? Optional.of(feedback) : Optional.empty();
  }

  /** Changes at the end of a window only. */
  private boolean hasFeedback() {
    return isAlone() ? keepsSomething : updates >= settings.startStep();
  }

  @Override
  public List<Stage> reduce(Gradients all, Bucket bucket) {
    if (!hasFeedback()) {
      return dense.reduce(all, bucket);
    }
    var parts = buckets.computeIfAbsent(bucket.range(), _ -> newBucket(bucket));
    double factor = feedback.factor();
    long update = updates;
    if (isAlone()) {
      return List.of(() -> parts.deliver(factor));
    }
    // The last one sends nothing; as a stage it takes its turn while other buckets are on the wire.
    return parts.hasMatrices()
        ? List.of(
            () -> parts.sendFirst(factor),
            () -> parts.sendSecond(update),
            () -> parts.finish(update))
        : List.of(() -> parts.sendFirst(factor), () -> parts.finish(update));
  }

  private LowRankBucket newBucket(Bucket bucket) {
    List<LowRankMatrix> inside = new ArrayList<>();
    List<Slot> others = new ArrayList<>();
    for (var slot : bucket.parameters()) {
      var matrix = matrices.get(slot);
      if (matrix == null) {
        others.add(slot);
      } else {
        inside.add(matrix);
      }
    }
    return new LowRankBucket(inside, others, gradients, collective, settings.warmStart());
  }

  @Override
  public Totals end(Gradients all) {
    boolean wasCompressed = hasFeedback();
    updates++;
    if (!wasCompressed) {
      return dense.end(all);
    }
    compressed += isAlone() ? 0 : 1;
    keepsSomething = !isAlone();
    return all.totals();
  }

  @Override
  public void remember(RunState state) {
    feedback.remember(state);
    var shared = state.shared().part("powersgd");
    updates = shared.number("updates", updates);
    compressed = shared.number("compressed", compressed);
    keepsSomething = shared.number("keeps", keepsSomething ? 1 : 0) == 1;
    matrices.values().forEach(matrix -> matrix.remember(state));
  }

  @Override
  public Map<String, Object> metrics() {
    Map<String, Object> metrics = new LinkedHashMap<>();
    metrics.put("compressed_updates", compressed);
    if (compressed > 0) {
      metrics.put("compression_ratio", Math.round(cost.ratio() * 1e3) / 1e3);
      metrics.put("sent_bytes_per_update", Math.round(cost.sentBytes()));
      metrics.put(
          "residual_norm",
          Math.sqrt(
              matrices.values().stream()
                  .mapToDouble(LowRankMatrix::norm)
                  .map(norm -> norm * norm)
                  .sum()));
    }
    return Map.of(settings.key(), metrics);
  }

  @Override
  public void close() {
    buckets.values().forEach(LowRankBucket::close);
    matrices.values().forEach(LowRankMatrix::close);
    feedback.close();
  }
}
