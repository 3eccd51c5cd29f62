package dev.flotilla.app.cluster;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;

/** Reads the documents of a YAML file, and what lies in them. */
public final class YamlDocuments {

  private YamlDocuments() {}

  /** Returns all documents of a text. */
  public static List<Map<?, ?>> of(String text) {
    List<Map<?, ?>> documents = new ArrayList<>();
    new Load(LoadSettings.builder().build())
        .loadAllFromString(text)
        .forEach(each -> documents.add((Map<?, ?>) each));
    return documents;
  }

  /** Returns what a path of keys and indices leads to, which must be there. */
  public static Object at(Object from, Object... path) {
    var value = from;
    for (var step : path) {
      value =
          Objects.requireNonNull(
              value instanceof List<?> list
                  ? list.get((Integer) step)
                  : ((Map<?, ?>) value).get(step),
              List.of(path).toString());
    }
    return value;
  }
}
