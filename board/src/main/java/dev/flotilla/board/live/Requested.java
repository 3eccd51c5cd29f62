package dev.flotilla.board.live;

import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Reads which runs a page asks for: {@code runs=ID.ID}, where an id is 16 hexadecimal digits. */
final class Requested {

  static final int MOST_RUNS = 8;
  private static final Pattern QUERY = Pattern.compile("runs=([0-9a-f]{16}(?:\\.[0-9a-f]{16})*)");

  private Requested() {}

  /** Returns the ids; none if the query is anything else. */
  static Set<String> ids(@Nullable String query) {
    var matcher = QUERY.matcher(query == null ? "" : query);
    if (!matcher.matches()) {
      return Set.of();
    }
    Set<String> ids = new LinkedHashSet<>();
    Arrays.stream(matcher.group(1).split("\\.", -1)).limit(MOST_RUNS).forEach(ids::add);
    return ids;
  }
}
