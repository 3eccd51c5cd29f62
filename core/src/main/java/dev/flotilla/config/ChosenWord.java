package dev.flotilla.config;

import dev.flotilla.settings.ConfigException;
import dev.flotilla.settings.Problem;
import dev.flotilla.settings.TextForm;
import dev.flotilla.settings.TextValue;
import java.lang.reflect.InvocationTargetException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** A value of a type that reads itself from one word or number. */
record ChosenWord(Class<?> type) implements ScalarType {

  @Override
  public Object read(Node node) {
    String text = text(node);
    try {
      var parse = type.getMethod("parse", String.class);
      parse.trySetAccessible();
      return parse.invoke(null, text);
    } catch (InvocationTargetException e) {
      if (e.getCause() instanceof ConfigException refused) {
        throw fitForOneLine(refused, text);
      }
      if (e.getCause() instanceof RuntimeException cause) {
        throw cause;
      }
      throw new IllegalStateException(type + " cannot read " + Text.quoted(text), e);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(type + " needs a public static parse(String)", e);
    }
  }

  /** A type below this package quotes the text as it is. */
  private static ConfigException fitForOneLine(ConfigException refused, String text) {
    return new ConfigException(
        refused.problems().stream()
            .map(
                it ->
                    new Problem(
                        it.where(),
                        it.key(),
                        it.message().replace("'" + text + "'", Text.quoted(text)),
                        it.fix()))
            .toList());
  }

  private String text(Node node) {
    TextForm form = type.getAnnotation(TextForm.class);
    if (form != null && form.orList() && node instanceof Node.Sequence sequence) {
      return sequence.items().stream()
          .map(item -> ScalarType.text(item, "a list of words"))
          .collect(Collectors.joining(", "));
    }
    return ScalarType.text(node, "one word");
  }

  @Override
  public Object write(Object value) {
    String text = ((TextValue) value).text();
    return text.matches("[0-9]{1,9}") ? (Object) Integer.valueOf(text) : text;
  }

  @Override
  public Map<String, Object> schema() {
    TextForm form = type.getAnnotation(TextForm.class);
    if (form == null) {
      return Map.of("type", "string");
    }
    List<Map<String, Object>> forms = new ArrayList<>();
    if (form.words().length > 0) {
      forms.add(Map.of("enum", List.of(form.words())));
    }
    if (!form.pattern().isEmpty()) {
      forms.add(JsonText.object("type", "string", "pattern", "^" + form.pattern() + "$"));
    }
    if (form.orList()) {
      forms.add(JsonText.object("type", "array", "items", Map.of("type", "string")));
      forms.add(JsonText.object("type", "string"));
    }
    if (form.orNumber()) {
      forms.add(JsonText.object("type", "integer", "minimum", 1));
    }
    return forms.size() == 1 ? forms.getFirst() : Map.of("anyOf", forms);
  }
}
