package dev.flotilla.config;

import dev.flotilla.settings.ConfigException;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Makes settings records of a recipe.
 *
 * <p>It never stops at the first problem: a value that cannot be bound is reported and stands aside
 * while the rest is read.
 */
public final class SettingsBinder {

  /** Stands for a value whose problem has been reported. */
  enum Unbound {
    UNBOUND
  }

  private final Catalogue catalogue;
  private final Problems problems;
  private final RecordBinder records;
  private final NamedBinder named;

  private SettingsBinder(Catalogue catalogue, Problems problems, Map<Class<?>, Object> given) {
    this.catalogue = catalogue;
    this.problems = problems;
    this.records = new RecordBinder(this, problems, given);
    this.named = new NamedBinder(records, catalogue, problems);
  }

  /**
   * Binds a recipe to a settings record.
   *
   * @throws ConfigException with all problems of the recipe, in the order of reading
   */
  public static <T extends Record> T bind(Recipe recipe, Class<T> type, Catalogue catalogue) {
    var problems = new Problems();
    var overlay = new Overlay(SettingsShape.of(type), catalogue, problems);
    Node.Mapping root = recipe.merged(overlay, problems);
    var given = Map.<Class<?>, Object>of(Origin.class, new Origin(root, catalogue));
    var binder = new SettingsBinder(catalogue, problems, given);
    Object bound = binder.records.bind("", root, type);
    problems.orThrow();
    return type.cast(bound);
  }

  /** Binds the value of a key; returns {@link Unbound} after reporting why it cannot be. */
  @Nullable Object value(String path, Node node, SettingsKey key) {
    var choice = key.choice();
    return choice.isPresent()
        ? scalar(path, node, choice.get())
        : value(path, node, catalogue.typeOf(key));
  }

  /** Binds one value; returns {@link Unbound} after reporting why it cannot be. */
  private @Nullable Object value(String path, Node node, Type type) {
    if (catalogue.hasKind(type)) {
      return named.one(path, node, (Class<?>) type);
    }
    if (type instanceof ParameterizedType many) {
      var arguments = many.getActualTypeArguments();
      return arguments.length == 1 ? list(path, node, arguments[0]) : map(path, node, arguments[1]);
    }
    Class<?> plain = (Class<?>) type;
    if (plain.isRecord() && !ScalarType.isText(plain)) {
      return records.bind(path, node, plain.asSubclass(Record.class));
    }
    return scalar(path, node, ScalarType.of(plain));
  }

  private Object list(String path, Node node, Type itemType) {
    if (catalogue.hasKind(itemType) && !catalogue.isOrdered(itemType)) {
      return named.all(path, node, (Class<?>) itemType);
    }
    if (!(node instanceof Node.Sequence sequence)) {
      problems.add(node.place(), path, "must be a list such as [a, b], but was " + node.shown());
      return Unbound.UNBOUND;
    }
    List<@Nullable Object> items = new ArrayList<>();
    for (Node item : sequence.items()) {
      items.add(value(path + "[" + items.size() + "]", item, itemType));
    }
    return items.contains(Unbound.UNBOUND) ? Unbound.UNBOUND : List.of(items.toArray());
  }

  /** Binds values by names that the recipe chooses; the order in which they were written stays. */
  private Object map(String path, Node node, Type valueType) {
    if (!(node instanceof Node.Mapping mapping)) {
      problems.add(
          node.place(), path, "must be a mapping such as {a: ...}, but was " + node.shown());
      return Unbound.UNBOUND;
    }
    var values = new LinkedHashMap<String, @Nullable Object>();
    mapping
        .entries()
        .forEach((key, item) -> values.put(key, value(Text.dotted(path, key), item, valueType)));
    return values.containsValue(Unbound.UNBOUND) ? Unbound.UNBOUND : values;
  }

  private Object scalar(String path, Node node, ScalarType type) {
    try {
      return type.read(node);
    } catch (ConfigException e) {
      e.problems().forEach(p -> problems.add(node.place(), path, p.message(), p.fix()));
      return Unbound.UNBOUND;
    }
  }
}
