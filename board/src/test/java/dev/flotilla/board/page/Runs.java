package dev.flotilla.board.page;

import dev.flotilla.board.run.Moment;
import dev.flotilla.board.run.Run;
import dev.flotilla.board.run.Series;
import dev.flotilla.board.run.StepTime;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;

/** Runs without folders. */
final class Runs {

  private static final Instant BEGUN = Instant.parse("2026-11-17T03:48:00Z");

  private Runs() {}

  static Run of(String name, Map<String, Object> summary, List<Series> series) {
    return new Run(
        name,
        Path.of(name.replace("/", "-")),
        "0123456789abcdef",
        !summary.isEmpty(),
        Optional.of(BEGUN),
        Optional.of(BEGUN.plusSeconds(90)),
        2,
        61_706,
        100,
        1,
        100,
        Map.of("EXCHANGE", "dense mean"),
        740_000,
        Map.of("model", Map.of("name", "lenet5"), "batch", 64),
        summary,
        series,
        List.of(new Moment(Moment.Kind.CHECKPOINT, 50, BEGUN.plusSeconds(40), "checkpoint")),
        List.of(new StepTime(0, 1, 2, 3, 4, 5, 6, 0.5), new StepTime(1, 1, 2, 3, 4, 5, 6, 0.5)),
        List.of());
  }

  static Series series(String chart, String line, double... values) {
    return Series.of(
        new Series.Key(chart, line, ""),
        IntStream.rangeClosed(1, values.length).mapToDouble(it -> 10 * it).toArray(),
        values);
  }
}
