package dev.flotilla.control;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The values of a job by attempt, as a launcher keeps them; belongs to its hub's thread. */
final class KeptValues {

  private final TreeMap<Integer, Map<String, Frame.Value>> byAttempt = new TreeMap<>();
  private final TreeMap<Integer, List<Frame.Put>> unconfirmed = new TreeMap<>();

  void keep(int attempt, Frame.Value value) {
    byAttempt.computeIfAbsent(attempt, _ -> new LinkedHashMap<>()).put(value.key(), value);
    unconfirmed
        .getOrDefault(attempt, new ArrayList<>())
        .remove(new Frame.Put(value.key(), value.value()));
  }

  /** Remembers a value until the first host's launcher has it. */
  void promise(int attempt, Frame.Put put) {
    unconfirmed.computeIfAbsent(attempt, _ -> new ArrayList<>()).add(put);
  }

  /** Returns the values of an attempt. */
  List<Frame.Value> of(int attempt) {
    return List.copyOf(byAttempt.getOrDefault(attempt, Map.of()).values());
  }

  /** Returns the attempts that have values. */
  List<Integer> attempts() {
    return List.copyOf(byAttempt.keySet());
  }

  /** Returns what the first host's launcher has to be told, by attempt. */
  Map<Integer, List<Frame.Put>> unconfirmed() {
    var copy = new TreeMap<Integer, List<Frame.Put>>();
    unconfirmed.forEach((attempt, puts) -> copy.put(attempt, List.copyOf(puts)));
    return copy;
  }

  void forgetBefore(int attempt) {
    byAttempt.headMap(attempt).clear();
    unconfirmed.headMap(attempt).clear();
  }
}
