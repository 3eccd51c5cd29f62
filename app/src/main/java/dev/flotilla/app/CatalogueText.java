package dev.flotilla.app;

import dev.flotilla.config.CatalogueItem;
import java.util.LinkedHashMap;
import java.util.Map;

/** Describes entries of the catalogue for people and for machines. */
final class CatalogueText {

  private CatalogueText() {}

  /** Returns a paragraph: name and size, what it is, and a line for each key. */
  static String of(CatalogueItem item, String sizes) {
    var text = new StringBuilder(item.name());
    if (!sizes.isEmpty()) {
      text.append("  ").append(sizes);
    }
    text.append('\n');
    if (!item.summary().isEmpty()) {
      text.append("  ").append(item.summary()).append('\n');
    }
    for (var key : item.keys()) {
      text.append("    %-30s %s%n".formatted(head(key), key.doc()));
    }
    return text.append('\n').toString();
  }

  private static String head(CatalogueItem.Key key) {
    return key.name() + ": " + key.def().orElse("(required)");
  }

  /** Returns the same as plain values. */
  static Map<String, Object> facts(CatalogueItem item) {
    Map<String, Object> keys = new LinkedHashMap<>();
    for (var key : item.keys()) {
      Map<String, Object> facts = new LinkedHashMap<>();
      facts.put("required", key.def().isEmpty());
      key.def().ifPresent(def -> facts.put("default", def));
      facts.put("doc", key.doc());
      keys.put(key.name(), facts);
    }
    Map<String, Object> facts = new LinkedHashMap<>();
    facts.put("summary", item.summary());
    facts.put("keys", keys);
    return facts;
  }
}
