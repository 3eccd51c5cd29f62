package dev.flotilla.app;

import dev.flotilla.report.EventSink;
import dev.flotilla.report.TrainingEvent;
import io.prometheus.metrics.core.metrics.Counter;
import io.prometheus.metrics.core.metrics.Gauge;
import io.prometheus.metrics.core.metrics.Histogram;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.prometheus.metrics.model.snapshots.Labels;
import java.util.HashMap;
import java.util.Map;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/** What Prometheus reads of a rank: counters, gauges and one histogram, with the rank's number. */
final class PrometheusMetrics implements EventSink {

  private static final String RANK = "rank";

  /** A part of backward, and so no phase of its own. */
  private static final String HIDDEN = "hidden";

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

  private final Counter phases;
  private final Counter sent;
  private final Gauge memory;
  private final Map<String, Double> secondsBefore = new HashMap<>();
  private long timed;
  private long counted;

  /** What it had sent when it was looked at last; nothing is known of a run that goes on. */
  private OptionalLong sentBefore = OptionalLong.of(0);

  PrometheusMetrics(int rank) {
    this.rank = Labels.of(RANK, Integer.toString(rank));
    steps = counter("train_steps", "Updates made by this process.");
    duration =
        Histogram.builder()
            .name("train_step_duration_seconds")
            .help("Time of an update on this rank; each counts with its logged interval's mean.")
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
    memory = gauge("process_resident_memory_bytes", "Main memory at the last logged update.");
    sent = counter("train_sent_bytes", "Payload that this process has sent in exchanges.");
    phases =
        Counter.builder()
            .name("train_phase_seconds")
            .help("Time of training by phase: data, forward, backward, exchange, update, other.")
            .labelNames("phase")
            .constLabels(this.rank)
            .register(registry);
  }

  private Counter counter(String name, String help) {
    return Counter.builder().name(name).help(help).constLabels(rank).register(registry);
  }

  /** Has no value until one is set: 0 would be taken for a measured one. */
  private Gauge gauge(String name, String help) {
    return Gauge.builder().name(name).help(help).labelNames(RANK).register(registry);
  }

  PrometheusRegistry registry() {
    return registry;
  }

  @Override
  public void on(TrainingEvent event) {
    switch (event) {
      case TrainingEvent.Resumed resumed -> {
        counted = resumed.update();
        timed = resumed.update();
        sentBefore = OptionalLong.empty();
      }
      case TrainingEvent.Started started -> set(planned, started.totalUpdates());
      case TrainingEvent.Timed times -> timed(times);
      case TrainingEvent.Updated updated -> updated(updated);
      case TrainingEvent.Evaluated evaluated -> evaluated(evaluated);
      case TrainingEvent.Saved _ -> checkpoints.inc();
      case TrainingEvent.Noted _ -> notes.inc();
      default -> {}
    }
  }

  private void timed(TrainingEvent.Timed event) {
    set(memory, event.residentBytes());
    sent.inc(Math.max(0, event.bytesSent() - sentBefore.orElse(event.bytesSent())));
    sentBefore = OptionalLong.of(event.bytesSent());
    double seconds = 0;
    for (var phase : event.seconds().entrySet()) {
      if (!phase.getKey().equals(HIDDEN)) {
        double since = phase.getValue() - secondsBefore.getOrDefault(phase.getKey(), 0.0);
        phases.labelValues(phase.getKey()).inc(Math.max(0, since));
        secondsBefore.put(phase.getKey(), phase.getValue());
        seconds += since;
      }
    }
    long made = event.update() - timed;
    for (long i = 0; i < made; i++) {
      duration.observe(Math.max(0, seconds / made));
    }
    timed = event.update();
  }

  private void updated(TrainingEvent.Updated event) {
    steps.inc(Math.max(0, event.update() - counted));
    counted = event.update();
    set(loss, event.loss());
    set(rate, event.lr());
    set(epoch, event.epoch() + 1);
    set(speed, event.samplesPerSecond());
  }

  private void evaluated(TrainingEvent.Evaluated event) {
    evaluations.inc();
    set(evalLoss, event.loss());
    set(evalAccuracy, event.acc1());
  }

  private void set(Gauge gauge, @Nullable Number value) {
    if (value != null) {
      gauge.labelValues(rank.get(RANK)).set(value.doubleValue());
    }
  }
}
