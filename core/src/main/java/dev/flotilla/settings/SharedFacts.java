package dev.flotilla.settings;

import java.lang.reflect.RecordComponent;
import java.util.Map;
import java.util.TreeMap;

/**
 * What ranks must agree on about a settings object: its type, and the components it documents with
 * {@link Setting}.
 *
 * <p>Components without that mark, such as functions, have no text that is equal in two processes.
 */
public final class SharedFacts {

  private SharedFacts() {}

  /** Returns facts by dotted key, for example {@code optimizer.lr}. */
  public static Map<String, String> of(String prefix, Object settings) {
    Map<String, String> facts = new TreeMap<>();
    facts.put(prefix, settings.getClass().getSimpleName());
    if (settings instanceof Record) {
      for (var component : settings.getClass().getRecordComponents()) {
        addIfShared(facts, prefix, component, settings);
      }
    }
    return facts;
  }

  private static void addIfShared(
      Map<String, String> facts, String prefix, RecordComponent component, Object settings) {
    var setting = component.getAnnotation(Setting.class);
    if (setting != null && !setting.local()) {
      facts.put(prefix + "." + component.getName(), String.valueOf(value(component, settings)));
    }
  }

  private static Object value(RecordComponent component, Object settings) {
    try {
      var accessor = component.getAccessor();
      accessor.trySetAccessible();
      return accessor.invoke(settings);
    } catch (IllegalAccessException e) {
      throw ConfigException.closed(settings.getClass());
    } catch (ReflectiveOperationException failure) {
      throw new IllegalStateException("cannot read " + component, failure);
    }
  }
}
