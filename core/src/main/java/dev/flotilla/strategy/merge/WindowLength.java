package dev.flotilla.strategy.merge;

import dev.flotilla.settings.ConfigException;
import dev.flotilla.settings.TextForm;
import dev.flotilla.settings.TextValue;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * The number of micro-steps per update: one number, or a schedule such as {@code 1 then 4 from
 * 100}, which means one micro-step until update 100 and four from there on.
 *
 * @param byUpdate micro-steps by the update from which they hold; the first key is 0
 */
@TextForm(
    words = {},
    orNumber = true,
    pattern = WindowLength.FORM)
public record WindowLength(NavigableMap<Long, Integer> byUpdate) implements TextValue {

  static final String FORM = "[0-9]{1,9}( then [0-9]{1,9} from [0-9]{1,12})*";

  private static final Pattern PATTERN = Pattern.compile(FORM);
  private static final String EXPECTED =
      "must be a whole number of at least 1, or a schedule like '1 then 4 from 100', but was ";

  /** Checks that every length is positive and that updates rise. */
  public WindowLength {
    byUpdate = java.util.Collections.unmodifiableNavigableMap(new TreeMap<>(byUpdate));
    if (byUpdate.isEmpty()
        || byUpdate.firstKey() != 0
        || byUpdate.values().stream().anyMatch(length -> length < 1)) {
      throw new ConfigException("", EXPECTED + text(byUpdate));
    }
  }

  /** Returns the same length throughout. */
  public static WindowLength of(int microSteps) {
    return new WindowLength(new TreeMap<>(java.util.Map.of(0L, microSteps)));
  }

  /** Reads a number or a schedule. */
  public static WindowLength parse(String text) {
    if (!PATTERN.matcher(text).matches()) {
      throw new ConfigException("", EXPECTED + "'" + text + "'");
    }
    NavigableMap<Long, Integer> lengths = new TreeMap<>();
    for (var part : text.split(" then ", -1)) {
      var words = part.split(" from ", -1);
      long from = words.length == 1 ? 0 : Long.parseLong(words[1]);
      if (!lengths.isEmpty() && from <= lengths.lastKey()) {
        throw new ConfigException("", "must name rising updates, but was '" + text + "'");
      }
      lengths.put(from, Integer.valueOf(words[0]));
    }
    return new WindowLength(lengths);
  }

  /** Returns the micro-steps of the accumulation window that follows so many updates. */
  public int after(long updates) {
    return byUpdate.floorEntry(updates).getValue();
  }

  boolean isAlwaysOne() {
    return byUpdate.values().stream().allMatch(length -> length == 1);
  }

  /** Returns the largest number of micro-steps of any window. */
  public int longest() {
    return byUpdate.values().stream().mapToInt(Integer::intValue).max().orElseThrow();
  }

  @Override
  public String text() {
    return text(byUpdate);
  }

  private static String text(NavigableMap<Long, Integer> lengths) {
    List<String> parts = new ArrayList<>();
    lengths.forEach(
        (from, length) -> parts.add(from == 0 ? "" + length : length + " from " + from));
    return parts.stream().collect(Collectors.joining(" then "));
  }

  @Override
  public String toString() {
    return text();
  }
}
