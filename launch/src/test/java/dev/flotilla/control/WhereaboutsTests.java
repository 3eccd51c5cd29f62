package dev.flotilla.control;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.control.Whereabouts.Seen;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class WhereaboutsTests {

  @TempDir Path folder;

  private static RankPlace place(int rank, long sequence, boolean waits, String activity) {
    return new RankPlace(rank, 391, 97, activity, sequence, "all-reduce", 4096, waits);
  }

  private static Seen seen(int rank, long sequence, boolean waits) {
    return new Seen(place(rank, sequence, waits, ""), false, Duration.ZERO);
  }

  private static Seen silent(int rank, long sequence, boolean waits) {
    return new Seen(place(rank, sequence, waits, ""), false, Duration.ofMillis(6700));
  }

  @Test
  void saysWhoWaitsAndWhoIsMissing() {
    assertThat(
            Whereabouts.sentence(
                List.of(seen(0, 812, true), silent(1, 811, true), seen(2, 812, true))))
        .isEqualTo(
            "ranks 0,2 wait in all-reduce #812 (update 97);"
                + " rank 1 was last seen in all-reduce #811 (update 97), silent for 6 s");
  }

  @Test
  void saysWhereALivingRankIsInstead() {
    var evaluating = new Seen(place(0, 811, false, "evaluating"), false, Duration.ZERO);

    assertThat(Whereabouts.sentence(List.of(evaluating, seen(1, 812, true))))
        .isEqualTo(
            "rank 1 waits in all-reduce #812 (update 97); rank 0 is outside of collectives,"
                + " at update 97, micro-step 391 (evaluating), after all-reduce #811");
  }

  @Test
  void saysWhereTheDeadWere() {
    var gone = new Seen(RankPlace.unknown(3), true, Duration.ZERO);

    assertThat(Whereabouts.sentence(List.of(gone, silent(1, 0, false), silent(2, 0, false))))
        .isEqualTo(
            "rank 3 was last seen before the first micro-step;"
                + " ranks 1,2 were last seen at update 97, micro-step 391, silent for 6 s");
  }

  @Test
  void findsTheFirstCollectiveThatDiffers() {
    var rings = new TreeMap<>(Map.of(0, ring(8, "all-reduce"), 1, ring(8, "broadcast")));

    assertThat(Whereabouts.difference(rings))
        .hasValue(
            "the ranks part ways at #8: rank 0 has all-reduce of 4096 bytes (Float),"
                + " rank 1 has broadcast of 4096 bytes (Float)");
    rings.put(1, ring(9, "all-reduce"));
    assertThat(Whereabouts.difference(rings)).isEmpty();
  }

  private static List<CollectiveEntry> ring(int count, String last) {
    Trace trace = Trace.inMemory();
    var recorder = new FlightRecorder(trace, new NameTable(trace));
    for (int i = 1; i < count; i++) {
      recorder.finished(recorder.starting("all-reduce", 4096, "Float"));
    }
    recorder.starting(last, 4096, "Float");
    return new TraceReader(0, trace).entries();
  }

  @Test
  void keepsTheLastThousandCollectivesInAFileThatOutlivesTheRank() throws IOException {
    TraceReader reader = new ControlFolder(folder).newTrace(3);
    Trace trace = Trace.map(new ControlFolder(folder).trace(3));
    var link =
        new RankLink(
            trace,
            new StopGate(Duration.ofSeconds(1)),
            new LocalChannel(new StopGate(Duration.ZERO)));
    assertThat(reader.place()).isEqualTo(RankPlace.unknown(3));

    for (int i = 0; i < 2500; i++) {
      trace.set(Trace.UPDATES, i);
      link.collectives().finished(link.collectives().starting("all-reduce", i, "Float"));
    }
    int ticket = link.collectives().starting("broadcast", 7, "Long");

    assertThat(reader.entries()).hasSize(1000);
    assertThat(reader.entries().getFirst().sequence()).isEqualTo(1502);
    assertThat(reader.place())
        .isEqualTo(new RankPlace(3, RankPlace.NONE, 2499, "", 2501, "broadcast", 7, true));
    link.collectives().finished(ticket);
    assertThat(reader.place().waits()).isFalse();
    assertThat(reader.dump(folder)).content().hasLineCount(1000).endsWith("\"state\":\"done\"}\n");
  }
}
