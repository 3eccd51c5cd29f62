package dev.flotilla.board.run;

import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** What the lines of events.jsonl have told so far. */
final class Events {

  private static final Pattern SKIPPED =
      Pattern.compile("updates? (in a row were )?skipped|window is left out");

  private static final Pattern SLOW = Pattern.compile("straggler|slower than|slow rank");

  private final Curves curves = new Curves();
  private final List<Moment> timeline = new ArrayList<>();
  private Map<String, Object> configuration = Map.of();
  private Map<String, Object> summary = Map.of();
  private @Nullable Instant begun;
  private @Nullable Instant last;
  private int ranks;
  private long parameters;
  private long totalUpdates;
  private int epochs;
  private long update;

  /** Takes one event; kinds of later versions are passed over. */
  void on(Map<String, Object> event) {
    var time = time(event);
    begun = begun == null ? time : begun;
    last = time;
    update = event.get("update") instanceof Number number ? number.longValue() : update;
    switch (Json.text(event.get("event"))) {
      case "configured" -> configuration = Json.object(event.get("configuration"));
      case "started" -> {
        ranks = (int) Json.number(event.get("ranks"));
        parameters = (long) Json.number(event.get("parameters"));
        totalUpdates = (long) Json.number(event.get("total_updates"));
        epochs = (int) Json.number(event.get("epochs"));
      }
      case "updated" -> curves.updated(event, update);
      case "deviceused" -> curves.deviceUsed(event, update);
      case "averaged" -> curves.averaged(event, update);
      case "logged" -> curves.metrics(Json.object(event.get("values")), update);
      case "evaluated" -> {
        curves.evaluated(event, update);
        add(Moment.Kind.EVALUATION, time, evaluation(event));
      }
      case "epochended" ->
          add(
              Moment.Kind.EPOCH,
              time,
              "epoch %d ended".formatted(1 + (int) Json.number(event.get("epoch"))));
      case "saved" -> add(Moment.Kind.CHECKPOINT, time, "checkpoint after update " + update);
      case "noted" -> {
        var text = Json.text(event.get("text"));
        add(kindOf(text), time, text);
      }
      case "finished" -> summary = Json.object(event.get("summary"));
      default -> {}
    }
  }

  private static Moment.Kind kindOf(String note) {
    if (SLOW.matcher(note).find()) {
      return Moment.Kind.STRAGGLER;
    }
    return SKIPPED.matcher(note).find() ? Moment.Kind.SKIP : Moment.Kind.NOTE;
  }

  private static String evaluation(Map<String, Object> event) {
    var text =
        new StringBuilder(
            String.format(Locale.ROOT, "test loss %.4f", Json.number(event.get("loss"))));
    if (event.get("acc1") instanceof Number accuracy) {
      text.append(String.format(Locale.ROOT, ", accuracy %.2f %%", 100 * accuracy.doubleValue()));
    }
    return text.toString();
  }

  private void add(Moment.Kind kind, Instant time, String text) {
    timeline.add(new Moment(kind, update, time, text));
  }

  private Instant time(Map<String, Object> event) {
    try {
      return Instant.parse(Json.text(event.get("time")));
    } catch (DateTimeParseException none) {
      return last == null ? Instant.EPOCH : last; // a line of somebody else
    }
  }

  Curves curves() {
    return curves;
  }

  List<Moment> timeline() {
    return timeline;
  }

  Map<String, Object> configuration() {
    return configuration;
  }

  Map<String, Object> summary() {
    return summary;
  }

  Optional<Instant> begun() {
    return Optional.ofNullable(begun);
  }

  Optional<Instant> last() {
    return Optional.ofNullable(last);
  }

  int ranks() {
    return ranks;
  }

  long parameters() {
    return parameters;
  }

  long totalUpdates() {
    return totalUpdates;
  }

  int epochs() {
    return epochs;
  }

  long update() {
    return update;
  }
}
