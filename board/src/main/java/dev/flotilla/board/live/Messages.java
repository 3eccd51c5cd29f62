package dev.flotilla.board.live;

import dev.flotilla.board.page.RunJson;
import dev.flotilla.board.run.Run;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.util.RawValue;

/** Writes what is told to pages, each text once for all who read it. */
final class Messages {

  /** A wide screen has about twice as many columns as a chart. */
  private static final int MOST_POINTS = 1000;

  private static final int MOST_MOMENTS = 500;

  private final JsonMapper mapper = JsonMapper.builder().build();

  /** Versions of an earlier board mean nothing to this one. */
  private final String board = HexFormat.of().toHexDigits(new SecureRandom().nextInt());

  private @Nullable Message last;
  private long lists;
  private Map<String, Message> pages = Map.of();

  Message list(Collection<WatchedRun> runs) {
    List<Map<String, Object>> lines =
        runs.stream()
            .sorted(Comparator.comparing(WatchedRun::begun).reversed())
            .map(WatchedRun::line)
            .toList();
    var body = mapper.writeValueAsBytes(Map.of("runs", lines));
    var before = last;
    if (before != null && Arrays.equals(before.body(), body)) {
      return before;
    }
    lists++;
    var now = new Message(board + "." + lists, body);
    last = now;
    return now;
  }

  /** Returns a message for each run that is watched, also for those which are not there. */
  Map<String, Message> pages(Map<String, WatchedRun> runs, Set<String> watched) {
    Map<String, Message> now = new HashMap<>();
    for (var id : watched) {
      var run = runs.get(id);
      var version = board + "." + (run == null ? 0 : run.version());
      var before = pages.get(id);
      now.put(
          id,
          before != null && before.version().equals(version)
              ? before
              : new Message(version, page(id, run)));
    }
    pages = Map.copyOf(now);
    return pages;
  }

  private byte[] page(String id, @Nullable WatchedRun run) {
    Map<String, Object> page = new LinkedHashMap<>();
    page.put("id", id);
    page.put("gone", run == null);
    if (run != null) {
      page.put("line", run.line());
      run.run().ifPresent(it -> page.put("run", json(it, run.state().word())));
    }
    return mapper.writeValueAsBytes(page);
  }

  private static RawValue json(Run run, String state) {
    return new RawValue(RunJson.of(run, state, MOST_POINTS, MOST_MOMENTS));
  }
}
