package dev.flotilla.engine;

import java.util.Map;

/**
 * What a part costs in forward.
 *
 * @param name its name
 * @param keptBytes what stays alive for backward if nothing is recomputed, its outputs included
 * @param nanos how long it takes
 * @param outputs the memory of its outputs by address, also of those that only pass through it
 */
public record PartCost(String name, long keptBytes, long nanos, Map<Long, Long> outputs) {

  /** Copies the map. */
  public PartCost {
    outputs = Map.copyOf(outputs);
  }

  /** Takes the shorter of two times: what lies above it is somebody else's work. */
  PartCost lesser(PartCost other) {
    return new PartCost(name, other.keptBytes, Math.min(nanos, other.nanos), other.outputs);
  }
}
