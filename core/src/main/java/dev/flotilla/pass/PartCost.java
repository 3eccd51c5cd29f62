package dev.flotilla.pass;

import java.util.List;
import java.util.Map;

/**
 * What a part costs in forward.
 *
 * @param name its name
 * @param keptBytes what stays alive for backward if nothing is recomputed, its outputs included
 * @param nanos how long it takes
 * @param finalNanos how much of that recomputation that stops here leaves out
 * @param outputs the memory of its outputs by number, also of those that only pass through it,
 *     which keep their number
 */
public record PartCost(
    String name, long keptBytes, long nanos, long finalNanos, Map<Long, Long> outputs) {

  /** Copies the map. */
  public PartCost {
    outputs = Map.copyOf(outputs);
  }

  /** Returns what a part costs as a rule, of several measurements of all parts. */
  static PartCost typical(int part, List<List<PartCost>> rounds) {
    var costs = rounds.stream().map(round -> round.get(part)).toList();
    long[] bytes = costs.stream().mapToLong(PartCost::keptBytes).sorted().toArray();
    long nanos = costs.stream().mapToLong(PartCost::nanos).min().orElseThrow();
    long finalNanos = costs.stream().mapToLong(PartCost::finalNanos).min().orElseThrow();
    var last = costs.getLast();
    return new PartCost(last.name, bytes[bytes.length / 2], nanos, finalNanos, last.outputs);
  }
}
