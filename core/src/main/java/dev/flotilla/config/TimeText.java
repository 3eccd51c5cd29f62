package dev.flotilla.config;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Lengths of time as a recipe writes them. */
final class TimeText {

  static final String EXPECTED = "a time such as 60, 60s, 500ms, 2m or 1h";
  static final Pattern FORM = Pattern.compile("([0-9]{1,12}(?:\\.[0-9]{1,9})?) ?(ms|s|m|h)?");

  private TimeText() {}

  static Optional<Duration> parse(String text) {
    Matcher matcher = FORM.matcher(text);
    if (!matcher.matches()) {
      return Optional.empty();
    }
    String unit = matcher.group(2);
    BigDecimal number = new BigDecimal(matcher.group(1));
    BigDecimal nanos = number.multiply(BigDecimal.valueOf(nanosPer(unit == null ? "s" : unit)));
    BigDecimal whole = nanos.setScale(0, RoundingMode.HALF_UP);
    BigDecimal[] parts = whole.divideAndRemainder(BigDecimal.valueOf(nanosPer("s")));
    return Optional.of(Duration.ofSeconds(parts[0].longValueExact(), parts[1].longValueExact()));
  }

  /** Returns the time in seconds, exactly. */
  static String of(Duration time) {
    BigDecimal seconds =
        BigDecimal.valueOf(time.getSeconds()).add(BigDecimal.valueOf(time.getNano(), 9));
    return seconds.stripTrailingZeros().toPlainString() + "s";
  }

  static Map<String, Object> schema() {
    var number = JsonText.object("type", "number", "exclusiveMinimum", 0);
    var text = JsonText.object("type", "string", "pattern", "^" + FORM.pattern() + "$");
    return JsonText.object("anyOf", List.of(number, text));
  }

  private static long nanosPer(String unit) {
    return switch (unit) {
      case "ms" -> 1_000_000L;
      case "s" -> 1_000_000_000L;
      case "m" -> 60_000_000_000L;
      default -> 3_600_000_000_000L;
    };
  }
}
