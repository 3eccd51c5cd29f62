package dev.flotilla.strategy.compress;

import dev.flotilla.state.RunState;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.OptionalDouble;

/** Adds up what compression did, for the run's summary. */
final class CompressionRecord {

  private long updates;
  private long sent;
  private long compressible;
  private double denseBytes;
  private double sentBytes;
  private long selectNanos;
  private long waitNanos;
  private long applyNanos;
  private long measured;
  private OptionalDouble lastDensity = OptionalDouble.empty();

  void selected(long nanos) {
    selectNanos += nanos;
  }

  void waited(long nanos) {
    waitNanos += nanos;
  }

  void applied(long nanos) {
    applyNanos += nanos;
  }

  /**
   * Counts an update.
   *
   * @param entries entries that all ranks sent
   * @param elements compressed elements, once for each rank
   */
  void add(long entries, long elements, double bytesDense, double bytesSent) {
    updates++;
    measured++;
    sent += entries;
    compressible += elements;
    denseBytes += bytesDense;
    sentBytes += bytesSent;
    if (elements > 0) {
      lastDensity = OptionalDouble.of((double) entries / elements);
    }
  }

  /** Returns which share of the compressed elements was sent in the last update. */
  OptionalDouble lastDensity() {
    return lastDensity;
  }

  /** Returns the time spent on choosing and applying since the start. */
  long nanos() {
    return selectNanos + applyNanos;
  }

  void remember(RunState state) {
    var shared = state.shared().part("dgc/record");
    updates = shared.number("updates", updates);
    sent = shared.number("sent", sent);
    compressible = shared.number("compressible", compressible);
    denseBytes = shared.real("dense_bytes", denseBytes);
    sentBytes = shared.real("sent_bytes", sentBytes);
  }

  /** Returns totals of the run, and mean times per update since it was started or resumed. */
  Map<String, Object> metrics() {
    Map<String, Object> metrics = new LinkedHashMap<>();
    metrics.put("compressed_updates", updates);
    if (updates > 0) {
      metrics.put("compression_ratio", rounded(denseBytes / sentBytes));
      metrics.put("density", (double) sent / compressible);
    }
    if (measured > 0) {
      metrics.put("select_ms", millis(selectNanos));
      metrics.put("wire_ms", millis(waitNanos));
      metrics.put("apply_ms", millis(applyNanos));
    }
    return metrics;
  }

  private double millis(long nanos) {
    return rounded(nanos / 1e6 / measured);
  }

  private static double rounded(double value) {
    return Math.round(value * 1e3) / 1e3;
  }
}
