package dev.flotilla.board.page;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * The page itself: one file with its script, style and data, that may fetch nothing. Its policy
 * allows exactly the scripts and the style that it holds, by their SHA-256.
 */
public final class Page {

  /** The scripts, in the order in which they must run; a board serves the first three as files. */
  public static final List<String> SCRIPTS =
      List.of("uPlot.iife.min.js", "curves.js", "charts.js", "boot.js");

  /** The styles. */
  public static final List<String> STYLES = List.of("uPlot.min.css", "page.css");

  private static final Pattern HOLE = Pattern.compile("\\{\\{(\\w+)}}");

  private Page() {}

  /** Returns the text of a script or style. */
  public static String resource(String name) {
    try (var in = Page.class.getResourceAsStream(name)) {
      if (in == null) {
        throw new IllegalStateException("the jar of the board lacks " + name);
      }
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  /**
   * Returns the page of runs.
   *
   * @param runs as {@link RunJson} writes them
   */
  static String of(String runs) {
    Map<String, String> parts = new LinkedHashMap<>();
    var style = String.join("\n", STYLES.stream().map(Page::resource).toList());
    var scripts = SCRIPTS.stream().map(Page::resource).toList();
    parts.put("policy", policy(style, scripts));
    parts.put("style", style);
    parts.put("uplot", scripts.get(0));
    parts.put("curves", scripts.get(1));
    parts.put("charts", scripts.get(2));
    parts.put("boot", scripts.get(3));
    parts.put("runs", runs);
    return filled(resource("report.html"), parts);
  }

  private static String policy(String style, List<String> scripts) {
    List<String> hashes = new ArrayList<>();
    scripts.forEach(it -> hashes.add(hash(it)));
    return "default-src 'none'; script-src %s; style-src %s; img-src data:; base-uri 'none'; form-action 'none'"
        .formatted(String.join(" ", hashes), hash(style));
  }

  static String hash(String text) {
    try {
      var digest =
          MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
      return "'sha256-" + Base64.getEncoder().encodeToString(digest) + "'";
    } catch (NoSuchAlgorithmException impossible) {
      throw new IllegalStateException(impossible); // every Java platform has it
    }
  }

  /** Looks at the template alone, so that nothing in data or scripts is taken for a hole. */
  private static String filled(String template, Map<String, String> parts) {
    var text = new StringBuilder();
    int from = 0;
    var holes = HOLE.matcher(template);
    while (holes.find()) {
      text.append(template, from, holes.start()).append(parts.get(holes.group(1)));
      from = holes.end();
    }
    return text.append(template, from, template.length()).toString();
  }
}
