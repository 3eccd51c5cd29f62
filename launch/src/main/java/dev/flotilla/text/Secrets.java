package dev.flotilla.text;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Hides secrets in configurations and messages before they are shown: values of keys and options
 * that are named like one, passwords inside addresses, and values that the environment holds under
 * such a name.
 */
public final class Secrets {

  /** What is shown instead. */
  public static final String HIDDEN = "(hidden)";

  private static final Set<String> WORDS =
      Set.of(
          "password",
          "passwd",
          "passphrase",
          "secret",
          "token",
          "credential",
          "credentials",
          "apikey",
          "auth",
          "authorization",
          "bearer");

  private static final Pattern BETWEEN_WORDS = Pattern.compile("[^A-Za-z0-9]+|(?<=[a-z])(?=[A-Z])");
  private static final Pattern KEY =
      Pattern.compile("(?i)(api|access|private|secret)[^a-z0-9]?key");

  /** An address that was taken for a path has one slash. */
  private static final Pattern IN_ADDRESS = Pattern.compile("(?<=:/{1,2})[^/@\\s]+(?=@)");

  /** A system property or an option, as JVMs list them when they crash. */
  private static final Pattern OPTION =
      Pattern.compile("(?<=\\s|^)(--?D?([A-Za-z0-9_.-]+)=)(\\S+)");

  /** Shorter values are too common to be taken for the secret itself. */
  private static final int SHORTEST = 8;

  private final List<String> values;

  /**
   * Knows the secrets of an environment.
   *
   * @param environment variables by name
   */
  public Secrets(Map<String, String> environment) {
    values =
        environment.entrySet().stream()
            .filter(it -> isNamedLikeOne(it.getKey()) && it.getValue().length() >= SHORTEST)
            .map(Map.Entry::getValue)
            .toList();
  }

  /** Returns a copy with all secrets hidden, however deep. */
  public Map<String, Object> hideIn(Map<String, Object> configuration) {
    Map<String, Object> shown = new LinkedHashMap<>();
    configuration.forEach(
        (key, value) -> shown.put(key, isNamedLikeOne(key) ? hide(value) : in(value)));
    return shown;
  }

  /** Returns a text with all secrets hidden. */
  public String hideIn(String text) {
    var shown = IN_ADDRESS.matcher(text).replaceAll(HIDDEN);
    shown = OPTION.matcher(shown).replaceAll(Secrets::withoutValue);
    for (var value : values) {
      shown = shown.replace(value, HIDDEN);
    }
    return shown;
  }

  private static String withoutValue(MatchResult option) {
    String shown = isNamedLikeOne(option.group(2)) ? option.group(1) + HIDDEN : option.group();
    return Matcher.quoteReplacement(shown);
  }

  /** Numbers and switches that have such a name are no secrets. */
  private @Nullable Object hide(@Nullable Object value) {
    return value instanceof Number || value instanceof Boolean || value == null ? value : HIDDEN;
  }

  private @Nullable Object in(@Nullable Object value) {
    return switch (value) {
      case String text -> hideIn(text);
      case Map<?, ?> map -> {
        Map<String, Object> copy = new LinkedHashMap<>();
        map.forEach((key, inner) -> copy.put(String.valueOf(key), inner));
        yield hideIn(copy);
      }
      case List<?> list -> list.stream().map(this::in).collect(Collectors.toList());
      case null, default -> value;
    };
  }

  private static boolean isNamedLikeOne(String name) {
    return KEY.matcher(name).find()
        || BETWEEN_WORDS
            .splitAsStream(name)
            .anyMatch(word -> WORDS.contains(word.toLowerCase(Locale.ROOT)));
  }
}
