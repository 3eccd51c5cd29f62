package dev.flotilla.board.run;

import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What the lines of measured.jsonl have told so far: times and memory of rank 0, and where the run
 * went on from. Unlike events they are never taken back.
 */
final class Measurements {

  private final Curves curves = new Curves();
  private final List<Moment> moments = new ArrayList<>();
  private @Nullable StepTime times;
  private @Nullable Instant last;
  private Map<String, Object> pipeline = Map.of();
  private long stateBytes;

  void on(Map<String, Object> event) {
    long update = (long) Json.number(event.getOrDefault("update", 0));
    switch (Json.text(event.get("event"))) {
      case "resumed" -> {
        curves.cutBehind(update);
        moments.add(new Moment(Moment.Kind.RESTART, update, time(event), "went on from " + update));
      }
      case "planned" -> {
        pipeline = Json.object(event.get("pipeline"));
        stateBytes = (long) Json.number(event.getOrDefault("state_bytes", 0));
      }
      case "straggler" ->
          moments.add(new Moment(Moment.Kind.STRAGGLER, update, time(event), straggler(event)));
      case "timed" -> {
        last = time(event);
        curves.measured(event, update);
        times = times(0, Json.object(event.get("seconds")));
      }
      default -> {}
    }
  }

  private static String straggler(Map<String, Object> event) {
    long rank = (long) Json.number(event.get("rank"));
    return Json.number(event.get("share")) == 0
        ? "rank %d keeps up again".formatted(rank)
        : String.format(
            Locale.ROOT,
            "rank %d is slow: the others wait for it %.0f %% of the time",
            rank,
            100 * Json.number(event.get("share")));
  }

  static StepTime times(int rank, Map<String, Object> seconds) {
    return new StepTime(
        rank,
        seconds(seconds, "data"),
        seconds(seconds, "forward"),
        seconds(seconds, "backward"),
        seconds(seconds, "exchange"),
        seconds(seconds, "update"),
        seconds(seconds, "other"),
        seconds(seconds, "hidden"));
  }

  private static double seconds(Map<String, Object> parts, String name) {
    return parts.get(name) instanceof Number number ? Math.max(0, number.doubleValue()) : 0;
  }

  private static Instant time(Map<String, Object> event) {
    try {
      return Instant.parse(Json.text(event.get("time")));
    } catch (DateTimeParseException none) {
      return Instant.EPOCH;
    }
  }

  Map<String, Object> pipeline() {
    return pipeline;
  }

  long stateBytes() {
    return stateBytes;
  }

  Curves curves() {
    return curves;
  }

  List<Moment> moments() {
    return moments;
  }

  Optional<StepTime> times() {
    return Optional.ofNullable(times);
  }

  Optional<Instant> last() {
    return Optional.ofNullable(last);
  }
}
