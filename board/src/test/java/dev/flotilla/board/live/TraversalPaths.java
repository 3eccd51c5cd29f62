package dev.flotilla.board.live;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/** Ways to write "out of here", as they have worked against other servers. */
final class TraversalPaths {

  private static final List<String> DOTS =
      List.of(
          "..",
          "%2e%2e",
          ".%2e",
          "%2E.",
          "%252e%252e",
          "%c0%ae%c0%ae",
          "%e0%80%ae%e0%80%ae",
          "\u00c0\u00ae\u00c0\u00ae",
          "..;",
          "..%3b",
          "....",
          "..%00",
          "%u002e%u002e",
          ".. ",
          "..%20",
          "...");

  private static final List<String> SLASHES =
      List.of(
          "/",
          "\\",
          "%2f",
          "%5c",
          "%252f",
          "%255c",
          "%c0%af",
          "//",
          "/./",
          "\u00c0\u00af",
          "%e0%80%af",
          "/;/");

  private static final List<String> BEFORE = List.of("", "api/events/", "runs/");

  private TraversalPaths() {}

  /** Returns many paths to a file, each with a '/' before it. */
  static Set<String> to(String file) {
    Set<String> paths = new LinkedHashSet<>();
    int turn = 0;
    for (var before : BEFORE) {
      for (var dots : DOTS) {
        for (var slash : SLASHES) {
          int depth = 1 + turn++ % 6;
          paths.add("/" + before + (dots + slash).repeat(depth) + file.replace("/", slash));
        }
      }
    }
    List<String> more = new ArrayList<>();
    for (var path :
        List.of(file, "/" + file, "//" + file, "///etc/passwd", "/etc/passwd", "\\" + file)) {
      more.add("/" + path);
      more.add("/?file=" + path);
      more.add("/api/events?runs=" + path);
      more.add("/api/events?runs=" + "../".repeat(8) + path);
      more.add("/" + path + "%00.js");
      more.add("/" + path + "\u0000.js");
      more.add("/" + "../".repeat(900) + path);
      more.add("/" + "%2e%2e/".repeat(900) + path);
      more.add("file://" + path);
      more.add("/file:" + path);
    }
    paths.addAll(more);
    return paths;
  }
}
