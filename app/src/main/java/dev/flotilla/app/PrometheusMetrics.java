package dev.flotilla.app;

import dev.flotilla.memory.ProcessMemory;
import dev.flotilla.report.EventSink;
import dev.flotilla.report.TrainingEvent;
import io.prometheus.metrics.core.metrics.Counter;
import io.prometheus.metrics.core.metrics.Gauge;
import io.prometheus.metrics.core.metrics.GaugeWithCallback;
import io.prometheus.metrics.core.metrics.Histogram;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.prometheus.metrics.model.snapshots.Labels;
import org.jspecify.annotations.Nullable;

/** What Prometheus reads of a rank: counters, gauges and one histogram, with the rank's number. */
final class PrometheusMetrics implements EventSink {

  private final PrometheusRegistry registry = new PrometheusRegistry();
  private final Labels rank;
  private final Counter steps;
  private final Histogram duration;
  private final Gauge planned;
  private final Gauge loss;
  private final Gauge rate;
  private final Gauge epoch;
  private final Gauge speed;
  private final Gauge evalLoss;
  private final Gauge evalAccuracy;
  private final Counter evaluations;
  private final Counter checkpoints;
  private final Counter notes;

  /** The update that the clock runs from: a logged one, or the last before an evaluation. */
  private long since;

  private long sinceNanos = System.nanoTime();
  private long counted;

  PrometheusMetrics(int rank) {
    this.rank = Labels.of("rank", Integer.toString(rank));
    steps = counter("train_steps", "Updates made by this process.");
    duration =
        Histogram.builder()
            .name("train_step_duration_seconds")
            .help("Time of an update; each counts with the mean of its logged interval.")
            .classicOnly()
            .classicUpperBounds(0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100)
            .constLabels(this.rank)
            .register(registry);
    planned = gauge("train_planned_steps", "Updates planned; 0 where a stream does not tell.");
    loss = gauge("train_loss", "Mean loss of the last logged update, over all ranks.");
    rate = gauge("train_learning_rate", "Learning rate of the last logged update.");
    epoch = gauge("train_epoch", "Epoch under way, from 1.");
    speed = gauge("train_samples_per_second", "Throughput of all ranks.");
    evalLoss = gauge("eval_loss", "Mean loss of the last evaluation.");
    evalAccuracy = gauge("eval_accuracy_ratio", "Top-1 accuracy of the last evaluation.");
    evaluations = counter("eval_runs", "Evaluations made by this process.");
    checkpoints = counter("train_checkpoints", "Checkpoints that this process began to save.");
    notes = counter("train_notes", "Warnings and notes of the run.");
    memory("process_resident_memory_bytes", "Resident memory.", ProcessMemory::residentBytes);
  }

  private Counter counter(String name, String help) {
    return Counter.builder().name(name).help(help).constLabels(rank).register(registry);
  }

  private Gauge gauge(String name, String help) {
    return Gauge.builder().name(name).help(help).constLabels(rank).register(registry);
  }

  private void memory(String name, String help, java.util.function.LongSupplier bytes) {
    var _ =
        GaugeWithCallback.builder()
            .name(name)
            .help(help)
            .constLabels(rank)
            .callback(it -> it.call(bytes.getAsLong()))
            .register(registry);
  }

  PrometheusRegistry registry() {
    return registry;
  }

  @Override
  public void on(TrainingEvent event) {
    switch (event) {
      case TrainingEvent.Resumed resumed -> counted = resumed.update();
      case TrainingEvent.Started started -> {
        planned.set(started.totalUpdates());
        mark(counted);
      }
      case TrainingEvent.Updated updated -> updated(updated);
      case TrainingEvent.Evaluated evaluated -> evaluated(evaluated);
      case TrainingEvent.Saved _ -> checkpoints.inc();
      case TrainingEvent.Noted _ -> notes.inc();
      default -> {}
    }
  }

  private void updated(TrainingEvent.Updated event) {
    long made = event.update() - since;
    if (made > 0) {
      double seconds = (System.nanoTime() - sinceNanos) / 1e9 / made;
      for (long i = 0; i < made; i++) {
        duration.observe(seconds);
      }
    }
    mark(event.update());
    steps.inc(Math.max(0, event.update() - counted));
    counted = event.update();
    loss.set(event.loss());
    rate.set(event.lr());
    epoch.set(event.epoch() + 1);
    speed.set(event.samplesPerSecond());
  }

  private void evaluated(TrainingEvent.Evaluated event) {
    mark(event.update());
    evaluations.inc();
    evalLoss.set(event.loss());
    set(evalAccuracy, event.acc1());
  }

  private static void set(Gauge gauge, @Nullable Double value) {
    if (value != null) {
      gauge.set(value);
    }
  }

  /** How long an evaluation took is no part of an update's time. */
  private void mark(long update) {
    since = update;
    sinceNanos = System.nanoTime();
  }
}
