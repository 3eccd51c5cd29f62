package dev.flotilla.board.live;

import dev.flotilla.board.page.Page;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/**
 * The program's own files, read once. What a request names is looked up here as it stands, letter
 * by letter; it never becomes a path.
 */
final class Assets {

  private static final String HTML = "text/html; charset=utf-8";
  private static final String SCRIPT = "text/javascript; charset=utf-8";
  private static final String PICTURE = "image/svg+xml";
  private static final String STYLE = "text/css; charset=utf-8";

  private final Map<String, Answer> open = new HashMap<>();
  private final Map<String, Answer> closed = new HashMap<>();

  Assets() {
    open.put("/", read("enter.html", HTML));
    open.put("/enter.js", read("enter.js", SCRIPT));
    open.put("/icon.svg", read("icon.svg", PICTURE));
    open.put("/board.css", read("board.css", STYLE));
    closed.put("/", read("board.html", HTML));
    closed.put("/board.js", read("board.js", SCRIPT));
    Page.STYLES.forEach(name -> open.put("/" + name, ofPage(name, STYLE)));
    Page.SCRIPTS.forEach(name -> closed.put("/" + name, ofPage(name, SCRIPT)));
  }

  /** Returns what a request gets, with or without a cookie. */
  Optional<Answer> find(String path, boolean isKnown) {
    var found = isKnown ? closed.get(path) : null;
    return Optional.ofNullable(found == null ? open.get(path) : found);
  }

  /** Tells whether there is something under a path for those who have a cookie. */
  boolean has(String path) {
    return open.containsKey(path) || closed.containsKey(path);
  }

  private static Answer ofPage(String name, String type) {
    return Answer.of(type, Page.resource(name).getBytes(StandardCharsets.UTF_8));
  }

  private static Answer read(String name, String type) {
    try (var in = Assets.class.getResourceAsStream(name)) {
      if (in == null) {
        throw new IllegalStateException("the jar lacks " + name);
      }
      return Answer.of(type, in.readAllBytes());
    } catch (IOException failure) {
      throw new UncheckedIOException("cannot read " + name, failure);
    }
  }
}
