package dev.flotilla.control;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/** Reads where a rank is, also after its death. */
public final class TraceReader {

  private final int rank;
  private final Trace trace;

  TraceReader(int rank, Trace trace) {
    this.rank = rank;
    this.trace = trace;
  }

  /** Returns where the rank is. */
  public RankPlace place() {
    List<CollectiveEntry> entries = entries();
    Optional<CollectiveEntry> open = entries.stream().filter(CollectiveEntry::isOpen).findFirst();
    Optional<CollectiveEntry> last =
        open.or(() -> entries.isEmpty() ? Optional.empty() : Optional.of(entries.getLast()));
    boolean hasBegun = trace.get(Trace.BEGUN_AT) != 0;
    return new RankPlace(
        rank,
        hasBegun ? trace.get(Trace.MICRO_STEP) : RankPlace.NONE,
        trace.get(Trace.UPDATES),
        trace.activity(),
        last.map(CollectiveEntry::sequence).orElse(0L),
        last.map(CollectiveEntry::operation).orElse(""),
        last.map(CollectiveEntry::bytes).orElse(0L),
        open.isPresent());
  }

  /** Returns a number that changes whenever the rank gets on. */
  public long pulse() {
    return 31 * (31 * trace.get(Trace.BEGUN_AT) + trace.get(Trace.STARTED))
        + trace.get(Trace.FINISHED);
  }

  /** Returns the rank's last collectives, oldest first. */
  public List<CollectiveEntry> entries() {
    var entries = new ArrayList<CollectiveEntry>();
    for (int slot = 0; slot < Trace.ENTRIES; slot++) {
      entry(slot).ifPresent(entries::add);
    }
    entries.sort(Comparator.comparingLong(CollectiveEntry::sequence));
    return entries;
  }

  private Optional<CollectiveEntry> entry(int slot) {
    long sequence = trace.get(slot, FlightRecorder.SEQUENCE);
    var entry =
        new CollectiveEntry(
            sequence,
            trace.name(trace.get(slot, FlightRecorder.OPERATION)),
            trace.name(trace.get(slot, FlightRecorder.TENSOR_TYPE)),
            trace.get(slot, FlightRecorder.BYTES),
            trace.get(slot, FlightRecorder.UPDATE),
            trace.get(slot, FlightRecorder.MICRO_STEP),
            trace.get(slot, FlightRecorder.START),
            trace.get(slot, FlightRecorder.END));
    boolean isWhole = sequence > 0 && trace.get(slot, FlightRecorder.SEQUENCE) == sequence;
    return isWhole ? Optional.of(entry) : Optional.empty();
  }

  /** Writes the rank's last collectives, one line each; returns the file. */
  public Path dump(Path folder) throws IOException {
    Path file = folder.resolve("collectives.rank-%d.jsonl".formatted(rank));
    var lines = new StringBuilder();
    entries().forEach(entry -> lines.append(entry.json()).append('\n'));
    try (OutputStream out = PrivateFiles.newFile(file)) {
      out.write(lines.toString().getBytes(StandardCharsets.UTF_8));
    }
    return file;
  }
}
