package dev.flotilla.exchange;

import dev.flotilla.exchange.ExchangeTimes.BucketTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Adds up what exchanges took, for the run's summary. */
final class ExchangeRecord {

  private long windows;
  private long busy;
  private long hidden;
  private long backward;
  private long firstBucket;
  private List<BucketTime> latest = List.of();
  private final List<Long> ofBuckets = new ArrayList<>();
  private long windowsOfPlan;

  void add(ExchangeTimes times) {
    windows++;
    busy += times.busy();
    hidden += times.hidden();
    backward += times.backward();
    firstBucket += times.firstBucket();
    var buckets = times.buckets();
    if (!sameBuckets(buckets)) {
      ofBuckets.clear();
      buckets.forEach(_ -> ofBuckets.add(0L));
      windowsOfPlan = 0;
    }
    latest = buckets;
    windowsOfPlan++;
    for (int i = 0; i < buckets.size(); i++) {
      ofBuckets.set(i, ofBuckets.get(i) + buckets.get(i).nanos());
    }
  }

  long hidden() {
    return hidden;
  }

  private boolean sameBuckets(List<BucketTime> buckets) {
    if (latest.size() != buckets.size()) {
      return false;
    }
    for (int i = 0; i < buckets.size(); i++) {
      if (!latest.get(i).bucket().equals(buckets.get(i).bucket())) {
        return false;
      }
    }
    return true;
  }

  /** Returns means per window in milliseconds, over all buckets and for each of the last plan. */
  Map<String, Object> metrics() {
    if (windows == 0) {
      return Map.of();
    }
    List<Map<String, Object>> buckets = new ArrayList<>();
    for (int i = 0; i < latest.size(); i++) {
      buckets.add(
          Map.of(
              "elements", latest.get(i).bucket().length(),
              "ms", millis(ofBuckets.get(i), windowsOfPlan)));
    }
    return Map.of(
        "exchange",
        Map.of(
            "windows",
            windows,
            "ms_per_window",
            millis(busy, windows),
            "hidden_ms_per_window",
            millis(hidden, windows),
            "backward_ms",
            millis(backward, windows),
            "first_bucket_ms",
            millis(firstBucket, windows),
            "buckets",
            buckets));
  }

  private static double millis(long nanos, long count) {
    return Math.round(nanos / 1e3 / count) / 1e3;
  }
}
