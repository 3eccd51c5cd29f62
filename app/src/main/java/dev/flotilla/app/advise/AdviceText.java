package dev.flotilla.app.advise;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/** Prints advice as a table, with a star at what is recommended. */
public final class AdviceText {

  private AdviceText() {}

  /**
   * Returns the tables.
   *
   * @param leftOut combinations that the recipe does not allow, with the reason
   */
  public static String of(Advice advice, Map<String, String> leftOut) {
    var text = new StringBuilder();
    var exact = advice.all().stream().filter(it -> it.combination().isExact()).toList();
    var others = advice.all().stream().filter(it -> !it.combination().isExact()).toList();
    text.append("keeps the mathematics\n").append(header());
    exact.forEach(it -> text.append(row(advice, it)));
    if (!others.isEmpty()) {
      text.append("approximate").append(advice.allowsApproximate() ? "" : ", not recommended");
      text.append('\n').append(header());
      others.forEach(it -> text.append(row(advice, it)));
    }
    leftOut.forEach((name, reason) -> text.append("left out: %s: %s%n".formatted(name, reason)));
    return text.toString();
  }

  private static String header() {
    return "  %-24s %11s %11s %11s %9s  %s%n"
        .formatted("", "peak memory", "ms/update", "ms/sample", "MB sent", "");
  }

  private static String row(Advice advice, Prediction it) {
    boolean isBest = advice.recommended().equals(Optional.of(it));
    String note =
        String.join(
            "; ",
            List.of(advice.fits(it) ? "" : "does not fit", it.combination().change()).stream()
                .filter(word -> !word.isEmpty())
                .toList());
    return String.format(
        Locale.ROOT,
        "%s %-24s %11s %11.1f %11.3f %9.2f  %s%n",
        isBest ? "*" : " ",
        it.combination().name(),
        Advice.mebibytes(it.trial().peakBytes()),
        1e3 * it.seconds(),
        1e3 * it.perSample(),
        it.sentBytes() / 1e6,
        note);
  }
}
