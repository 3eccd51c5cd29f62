package dev.flotilla.pass;

import dev.flotilla.collective.Collective;
import dev.flotilla.collective.Reduction;
import dev.flotilla.collective.Traffic;
import dev.flotilla.data.Batch;
import dev.flotilla.data.Dataset;
import dev.flotilla.data.EvaluationShard;
import dev.flotilla.memory.NativeView;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.memory.Tensors;
import dev.flotilla.metric.Metric;
import dev.flotilla.model.Score;
import dev.flotilla.world.MissingNativeException;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import org.bytedeco.pytorch.NoGradGuard;

/** Evaluates a model over all ranks, each sample exactly once. */
public final class Evaluator {

  private final BoundModel model;
  private final SegmentChain chain;
  private final Collective collective;
  private final List<Metric> metrics;

  /**
   * Creates an evaluator over a chain.
   *
   * @param metrics what is measured besides loss and score
   */
  public Evaluator(
      BoundModel model, SegmentChain chain, Collective collective, List<Metric> metrics) {
    this.model = model;
    this.chain = chain;
    this.collective = collective;
    this.metrics = List.copyOf(metrics);
  }

  /**
   * Runs this rank's contiguous part of the data and sums the results over ranks. All ranks make as
   * many passes, for parameters that they gather together.
   *
   * @param givesUp asked before each batch, whether this rank cannot go on
   * @return nothing if any rank gave up
   */
  public Optional<Evaluation> evaluate(Dataset data, int batchSize, BooleanSupplier givesUp) {
    var shard = EvaluationShard.of(data, batchSize, collective.rank(), collective.size());
    var sums = new Sums(new Tallies(metrics));
    try (var _ = new NoGradGuard();
        var loader = shard.loader().pinned(model.device().isCuda())) {
      for (long i = 0; i < shard.rounds(); i++) {
        boolean isMissing = i >= shard.batches();
        sums.areGivenUp = sums.areGivenUp || (!isMissing && givesUp.getAsBoolean());
        if (isMissing || sums.areGivenUp) {
          model.gate().forwardWithoutBatch();
          continue;
        }
        try (var _ = TensorScope.open()) {
          add(sums, loader.load(i));
        }
      }
    }
    return sums.overRanks(collective);
  }

  private void add(Sums sums, Batch given) {
    var batch = given.withTargetsOn(model.device());
    var outputs = chain.evaluate(batch);
    var terms = MissingNativeException.explain(() -> model.objective().loss(outputs, batch));
    sums.loss += terms.sum().item_double();
    sums.count += terms.count();
    sums.samples += batch.samples();
    if (!sums.tallies.isEmpty()) {
      sums.tallies.update(model.objective().answers(outputs, batch));
    }
    sums.score =
        sums.score.plus(
            MissingNativeException.explain(() -> model.objective().score(outputs, batch)));
  }

  private static final class Sums {

    private final Tallies tallies;
    private double loss;
    private long count;
    private long samples;
    private Score score = Score.NONE;
    private boolean areGivenUp;

    Sums(Tallies tallies) {
      this.tallies = tallies;
    }

    /** Sums in float64, which holds counts exactly. */
    Optional<Evaluation> overRanks(Collective collective) {
      try (var _ = TensorScope.open()) {
        var sums =
            Tensors.ofDoubles(
                loss,
                count,
                samples,
                score.top1(),
                score.top5(),
                score.total(),
                areGivenUp ? 1 : 0);
        collective.allReduce(sums, Reduction.SUM, Traffic.SCALAR).await();
        var all = NativeView.of(sums).toArray(ValueLayout.JAVA_DOUBLE);
        var overall = new Score((long) all[3], (long) all[4], (long) all[5]);
        return all[6] > 0
            ? Optional.empty()
            : Optional.of(
                new Evaluation(
                    all[0] / all[1], overall, (long) all[2], tallies.overRanks(collective)));
      }
    }
  }
}
