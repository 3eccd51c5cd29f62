package dev.flotilla.app.doctor;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What ranks have measured together.
 *
 * @param loadSeconds time that rank 0 took to load libtorch
 * @param cudaProblem why libtorch's build for CUDA finds no GPU; empty if it does, or is not one
 * @param hosts name of each rank's host
 * @param clocks by how many seconds each rank's clock is ahead of rank 0's
 * @param pairs links between two ranks
 * @param failures pairs that did not come together, with the reason
 * @param allReduceSeconds a of an all-reduce, which takes a + c · bytes; 0 for one rank
 * @param allReduceSecondsPerByte c
 * @param busy what it is while all cores compute
 */
public record Measured(
    double loadSeconds,
    String cudaProblem,
    List<String> hosts,
    List<Double> clocks,
    List<Pair> pairs,
    List<String> failures,
    double allReduceSeconds,
    double allReduceSecondsPerByte,
    Busy busy) {

  /** Copies the lists. */
  public Measured {
    hosts = List.copyOf(hosts);
    clocks = List.copyOf(clocks);
    pairs = List.copyOf(pairs);
    failures = List.copyOf(failures);
  }

  /**
   * The link between two ranks.
   *
   * @param from rank that sends
   * @param to rank that receives
   * @param latency seconds that a short message takes one way
   * @param bitsPerSecond what a long one reaches
   */
  public record Pair(int from, int to, double latency, double bitsPerSecond) {}

  /**
   * An exchange while all cores compute, for each byte that a rank sends.
   *
   * @param secondsPerByte that it takes
   * @param work seconds of computing that a rank loses
   */
  public record Busy(double secondsPerByte, double work) {

    /** Not measured. */
    public static final Busy UNKNOWN = new Busy(0, 0);
  }

  /** Returns it as maps, lists and numbers. */
  public Map<String, Object> json() {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("libtorch_load_seconds", loadSeconds);
    json.put("cuda_problem", cudaProblem);
    json.put("hosts", hosts);
    json.put("clock_offset_seconds", clocks);
    json.put("pairs", pairs.stream().map(Measured::json).toList());
    json.put("failures", failures);
    json.put(
        "all_reduce",
        Map.of("latency_seconds", allReduceSeconds, "seconds_per_byte", allReduceSecondsPerByte));
    json.put(
        "while_computing",
        Map.of("seconds_per_byte_sent", busy.secondsPerByte(), "work_per_byte_sent", busy.work()));
    return json;
  }

  private static Map<String, Object> json(Pair pair) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("from", pair.from());
    json.put("to", pair.to());
    json.put("latency_seconds", pair.latency());
    json.put("bits_per_second", pair.bitsPerSecond());
    return json;
  }

  /** Reads what {@link #json} wrote. */
  public static Measured of(Map<String, Object> json) {
    List<Pair> pairs = new ArrayList<>();
    for (var each : list(json.get("pairs"))) {
      var pair = map(each);
      pairs.add(
          new Pair(
              (int) number(pair.get("from")),
              (int) number(pair.get("to")),
              number(pair.get("latency_seconds")),
              number(pair.get("bits_per_second"))));
    }
    var allReduce = map(json.get("all_reduce"));
    var busy = map(json.get("while_computing"));
    return new Measured(
        number(json.get("libtorch_load_seconds")),
        String.valueOf(json.getOrDefault("cuda_problem", "")),
        list(json.get("hosts")).stream().map(String::valueOf).toList(),
        list(json.get("clock_offset_seconds")).stream().map(Measured::number).toList(),
        pairs,
        list(json.get("failures")).stream().map(String::valueOf).toList(),
        number(allReduce.get("latency_seconds")),
        number(allReduce.get("seconds_per_byte")),
        new Busy(
            number(busy.get("seconds_per_byte_sent")), number(busy.get("work_per_byte_sent"))));
  }

  private static List<?> list(@Nullable Object value) {
    return value instanceof List<?> list ? list : List.of();
  }

  private static Map<?, ?> map(@Nullable Object value) {
    return value instanceof Map<?, ?> map ? map : Map.of();
  }

  private static double number(@Nullable Object value) {
    return value instanceof Number number ? number.doubleValue() : 0;
  }
}
