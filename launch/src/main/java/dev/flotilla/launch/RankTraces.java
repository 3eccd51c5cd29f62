package dev.flotilla.launch;

import dev.flotilla.control.CollectiveEntry;
import dev.flotilla.control.RankPlace;
import dev.flotilla.control.TraceReader;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.BiConsumer;

/** What the ranks of this host note in files that the launcher maps too: it outlives them. */
final class RankTraces {

  private final Console console;
  private final SortedMap<Integer, TraceReader> traces = new TreeMap<>();

  RankTraces(Console console) {
    this.console = console;
  }

  /** Reads a rank's notes from now on, in place of those of the attempt before. */
  void watch(int rank, TraceReader trace) {
    traces.put(rank, trace);
  }

  boolean contain(int rank) {
    return traces.containsKey(rank);
  }

  int size() {
    return traces.size();
  }

  void forEach(BiConsumer<Integer, TraceReader> action) {
    traces.forEach(action);
  }

  /** Returns where each rank is. */
  List<RankPlace> places() {
    return traces.values().stream().map(TraceReader::place).toList();
  }

  /** Returns the last collectives of each rank. */
  SortedMap<Integer, List<CollectiveEntry>> collectives() {
    var latest = new TreeMap<Integer, List<CollectiveEntry>>();
    traces.forEach((rank, trace) -> latest.put(rank, trace.entries()));
    return latest;
  }

  /** Writes the last collectives of each rank. */
  void dumpCollectives(Path logDir) {
    for (TraceReader trace : traces.values()) {
      try {
        Path _ = trace.dump(logDir);
      } catch (IOException e) {
        console.say("the collectives of a rank cannot be written: " + e.getMessage());
      }
    }
  }
}
