package dev.flotilla.board.live;

import dev.flotilla.board.run.Run;
import dev.flotilla.board.run.Series;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/** One line of the list of runs. */
final class RunCard {

  private RunCard() {}

  /** What the page needs to show the line; all of it is text and numbers. */
  static Map<String, Object> of(String name, Run run) {
    Map<String, Object> card = new LinkedHashMap<>();
    card.put("name", name);
    card.put("model", model(run));
    card.put("ranks", run.ranks());
    card.put("update", run.update());
    card.put("total", run.totalUpdates());
    card.put("begun", run.begun().map(Instant::toEpochMilli).orElse(0L));
    card.put("last", run.last().map(Instant::toEpochMilli).orElse(0L));
    put(card, "loss", run.series("loss", "training"));
    put(card, "accuracy", run.series("accuracy", "test"));
    put(card, "speed", run.series("throughput", ""));
    return card;
  }

  /** What there is to say of a run whose files cannot be read. */
  static Map<String, Object> unreadable(String name, String why) {
    Map<String, Object> card = new LinkedHashMap<>();
    card.put("name", name);
    card.put("problem", why);
    return card;
  }

  private static String model(Run run) {
    var model = run.configuration().get("model");
    var name = model instanceof Map<?, ?> map ? map.get("name") : model;
    return name == null ? "" : name.toString();
  }

  private static void put(Map<String, Object> card, String key, Optional<Series> series) {
    series
        .map(Series::last)
        .ifPresent(it -> card.put(key, Double.isFinite(it) ? it : String.valueOf(it)));
  }
}
