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
import dev.flotilla.model.Activations;
import dev.flotilla.model.Objective;
import dev.flotilla.model.ObjectiveParts;
import dev.flotilla.model.Score;
import dev.flotilla.world.MissingNativeException;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.stream.DoubleStream;
import java.util.stream.Stream;
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
    var sums = new Sums(new Tallies(metrics), model.objective().parts());
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
    MissingNativeException.explain(
        () -> {
          sums.addLoss(model.objective(), outputs, batch);
          return sums;
        });
    sums.samples += batch.samples();
    if (!sums.tallies.isEmpty()) {
      sums.tallies.update(model.objective().answers(outputs, batch));
    }
    sums.score =
        sums.score.plus(
            MissingNativeException.explain(() -> model.objective().score(outputs, batch)));
  }

  private static final class Sums {

    /** What is summed before the parts of the loss. */
    private static final int NUMBERS = 5;

    private final Tallies tallies;
    private final Optional<ObjectiveParts> parts;

    /** The sums of all parts of the loss, and what divides them. */
    private final double[] loss;

    private final double[] divisors;
    private long samples;
    private Score score = Score.NONE;
    private boolean areGivenUp;

    Sums(Tallies tallies, Optional<ObjectiveParts> parts) {
      this.tallies = tallies;
      this.parts = parts;
      int size = parts.map(ObjectiveParts::size).orElse(1);
      loss = new double[size];
      divisors = new double[size];
    }

    void addLoss(Objective objective, Activations outputs, Batch batch) {
      if (parts.isEmpty()) {
        var terms = objective.loss(outputs, batch);
        loss[0] += terms.sum().item_double();
        divisors[0] += terms.count();
        return;
      }
      double[] more = parts.get().divisors(batch);
      var sums = parts.get().sums(outputs, batch);
      for (int i = 0; i < loss.length; i++) {
        loss[i] += sums.get(i).item_double();
        divisors[i] += more[i];
      }
    }

    /** Returns the mean loss; a part of which nothing is counted adds nothing. */
    private static double mean(double[] all, int size) {
      if (size == 1) {
        return all[NUMBERS] / all[NUMBERS + 1];
      }
      double mean = 0;
      for (int i = 0; i < size; i++) {
        double divisor = all[NUMBERS + size + i];
        mean += divisor > 0 ? all[NUMBERS + i] / divisor : 0;
      }
      return mean;
    }

    /** Sums in float64, which holds counts exactly. */
    Optional<Evaluation> overRanks(Collective collective) {
      try (var _ = TensorScope.open()) {
        double[] numbers = {samples, score.top1(), score.top5(), score.total(), areGivenUp ? 1 : 0};
        var sums =
            Tensors.ofDoubles(
                Stream.of(numbers, loss, divisors).flatMapToDouble(DoubleStream::of).toArray());
        collective.allReduce(sums, Reduction.SUM, Traffic.SCALAR).await();
        var all = NativeView.of(sums).toArray(ValueLayout.JAVA_DOUBLE);
        var overall = new Score((long) all[1], (long) all[2], (long) all[3]);
        return all[4] > 0
            ? Optional.empty()
            : Optional.of(
                new Evaluation(
                    mean(all, loss.length), overall, (long) all[0], tallies.overRanks(collective)));
      }
    }
  }
}
