package dev.flotilla.launch;

import java.util.List;
import java.util.Locale;
import java.util.Set;

/**
 * An option of the launcher.
 *
 * @param names its names with dashes, the one that messages and {@code PET_} variables use first
 * @param takesValue whether a value follows
 * @param rule what becomes of it
 */
record Flag(List<String> names, boolean takesValue, Rule rule) {

  /** What becomes of an option that is given. */
  sealed interface Rule {

    /**
     * It is a setting.
     *
     * @param value what its value is called; empty without one
     * @param doc what it is for
     */
    record Honoured(String value, String doc) implements Rule {}

    /** It is known but cannot be kept, unless it asks for what happens anyway. */
    record Refused(String reason, Set<String> harmless) implements Rule {}

    /** It is known and harmless, but changes nothing. */
    record NoEffect(String reason) implements Rule {}
  }

  String name() {
    return names.getFirst();
  }

  /** Returns the end of the environment variable that holds this option's default. */
  String variableSuffix() {
    return name().substring(2).replace('-', '_').toUpperCase(Locale.ROOT);
  }

  static Flag honoured(String value, String doc, String... names) {
    return new Flag(List.of(names), !value.isEmpty(), new Rule.Honoured(value, doc));
  }

  static Flag refused(String reason, Set<String> harmless, String... names) {
    return new Flag(List.of(names), true, new Rule.Refused(reason, harmless));
  }

  static Flag refusedSwitch(String reason, String... names) {
    return new Flag(List.of(names), false, new Rule.Refused(reason, Set.of()));
  }

  static Flag noEffect(String reason, String... names) {
    return new Flag(List.of(names), true, new Rule.NoEffect(reason));
  }

  static Flag noEffectSwitch(String reason, String... names) {
    return new Flag(List.of(names), false, new Rule.NoEffect(reason));
  }
}
