package dev.flotilla.config;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Lengths of time as a recipe writes them. */
final class TimeText {

  static final String EXPECTED = "a time such as 60, 60s, 500ms, 2m or 1h";
  static final Pattern FORM = Pattern.compile("([0-9]{1,12})(\\.[0-9]{1,9})? ?(ms|s|m|h|)");

  private static final Duration LONGEST = Duration.ofDays(36_500);

  private TimeText() {}

  static Optional<Duration> parse(String text) {
    Matcher matcher = FORM.matcher(text);
    if (!matcher.matches()) {
      return Optional.empty();
    }
    long unit = millis(matcher.group(3));
    long nanos = unit * billionths(matcher.group(2)) / 1000;
    // Duration.multipliedBy needs BigDecimal, whose tables take 20 to 80 ms to make.
    Duration time = Duration.ofMillis(unit * Long.parseLong(matcher.group(1))).plusNanos(nanos);
    return Optional.of(time).filter(sensible -> sensible.compareTo(LONGEST) <= 0);
  }

  /** Returns the time in seconds, exactly. */
  static String of(Duration time) {
    String nanos = Integer.toString(1_000_000_000 + time.getNano()).substring(1);
    return (time.getSeconds() + "." + nanos).replaceFirst("\\.?0*$", "") + "s";
  }

  static Map<String, Object> schema() {
    var number = JsonText.object("type", "number", "exclusiveMinimum", 0);
    var text = JsonText.object("type", "string", "pattern", "^" + FORM.pattern() + "$");
    return JsonText.object("anyOf", List.of(number, text));
  }

  private static long billionths(@Nullable String fraction) {
    return fraction == null ? 0 : Long.parseLong((fraction + "000000000").substring(1, 10));
  }

  private static long millis(String unit) {
    return switch (unit) {
      case "ms" -> 1;
      case "m" -> 60_000;
      case "h" -> 3_600_000;
      default -> 1000;
    };
  }
}
