package dev.flotilla.app.cluster;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/** What the documented APIs of Kubernetes, JobSet and Kubeflow allow in an object. */
final class KubernetesFields {

  private final Map<String, String> typeOf = new HashMap<>();

  KubernetesFields() {
    try (var resource =
        Objects.requireNonNull(
            KubernetesFields.class.getResourceAsStream("kubernetes-fields.txt"))) {
      new String(resource.readAllBytes(), StandardCharsets.UTF_8)
          .lines()
          .filter(line -> !line.startsWith("#"))
          .map(line -> line.split(" ", 2))
          .forEach(words -> typeOf.put(words[0], words[1]));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns everything in a document that the API does not know, or knows as something else. */
  List<String> problems(Map<?, ?> document) {
    var problems = new ArrayList<String>();
    check(String.valueOf(document.get("kind")), document, problems);
    return problems;
  }

  private void check(String path, Object value, List<String> problems) {
    switch (value) {
      case Map<?, ?> none when none.isEmpty() -> checkObject(path, problems);
      case Map<?, ?> fields ->
          fields.forEach((name, inner) -> check(field(path, name), inner, problems));
      case List<?> items -> items.forEach(item -> check(path + "[]", item, problems));
      default -> checkScalar(path, value, problems);
    }
  }

  private void checkObject(String path, List<String> problems) {
    if (typeOf.keySet().stream().noneMatch(known -> known.startsWith(path + "."))) {
      problems.add(path + " is not in the API");
    }
  }

  /** A map with names of the user's own has a star in place of them. */
  private String field(String path, Object name) {
    return typeOf.containsKey(path + ".*") ? path + ".*" : path + "." + name;
  }

  private void checkScalar(String path, Object value, List<String> problems) {
    var known = typeOf.get(path);
    if (known == null) {
      problems.add(path + " is not in the API");
      return;
    }
    var words = known.split(" ", 2);
    boolean fits =
        switch (words[0]) {
          case "string" ->
              value instanceof String text
                  && (words.length == 1 || Set.of(words[1].split(",", -1)).contains(text));
          case "integer" -> value instanceof Integer;
          case "boolean" -> value instanceof Boolean;
          case "quantity", "int-or-string" -> value instanceof String || value instanceof Integer;
          default -> false;
        };
    if (!fits) {
      problems.add("%s must be %s, but was %s".formatted(path, known, value));
    }
  }
}
