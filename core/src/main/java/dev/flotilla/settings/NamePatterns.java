package dev.flotilla.settings;

import java.util.List;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Matches parameter names against patterns in which {@code *} stands for any characters. */
public final class NamePatterns {

  private NamePatterns() {}

  /** Returns what tells whether one of the patterns matches a name. */
  public static Predicate<String> anyOf(List<String> patterns) {
    var matchers = patterns.stream().map(NamePatterns::matcher).toList();
    return name -> matchers.stream().anyMatch(matcher -> matcher.test(name));
  }

  private static Predicate<String> matcher(String pattern) {
    var expression =
        List.of(pattern.split("\\*", -1)).stream()
            .map(Pattern::quote)
            .collect(Collectors.joining(".*"));
    return Pattern.compile(expression).asMatchPredicate();
  }

  /** Returns the patterns that match none of the names. */
  public static List<String> unmatched(List<String> patterns, List<String> names) {
    return patterns.stream().filter(pattern -> names.stream().noneMatch(matcher(pattern))).toList();
  }
}
