package dev.flotilla.app;

import dev.flotilla.verify.Verification;
import dev.flotilla.verify.Verification.Difference;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/** Prints what a verification has shown. */
final class VerifyText {

  private static final int WIDTH = 96;

  private VerifyText() {}

  static String report(Verification result) {
    var text = new StringBuilder();
    text.append("Merged micro-batches against one large batch, window by window:\n");
    for (int i = 0; i < result.windows().size(); i++) {
      text.append("  ").append(i).append(": ").append(result.windows().get(i)).append('\n');
    }
    text.append('\n').append(table(result)).append('\n');
    result.notes().forEach(note -> text.append(wrapped(note)));
    text.append(verdict(result));
    result
        .causes()
        .forEach(cause -> text.append(wrapped(cause.kind().title() + ": " + cause.message())));
    return text.toString();
  }

  private static String table(Verification result) {
    int width = result.parameters().stream().mapToInt(p -> p.name().length()).max().orElse(0);
    int column = Math.max(9, width);
    var head =
        String.format(Locale.ROOT, "%-" + column + "s  %21s  %21s%n", "", "gradient", "weights");
    var names =
        String.format(
            Locale.ROOT,
            "%-" + column + "s  %10s %10s  %10s %10s%n",
            "largest ‖Δ‖/‖g‖",
            "float64",
            "float32",
            "float64",
            "float32");
    return head
        + names
        + result.parameters().stream()
            .map(parameter -> row(parameter, column))
            .collect(Collectors.joining());
  }

  private static String row(Difference parameter, int column) {
    return String.format(
        Locale.ROOT,
        "%-" + column + "s  %10.1e %10.1e  %10.1e %10.1e%n",
        parameter.name(),
        parameter.gradient64(),
        parameter.gradient32(),
        parameter.weights64(),
        parameter.weights32());
  }

  private static String verdict(Verification result) {
    var updates =
        result.updates() == result.windows().size()
            ? ""
            : " (%d updates instead of %d)".formatted(result.updates(), result.windows().size());
    return result.isEqual()
        ? "equal to rounding: every difference in float64 is at most %.0e\n"
            .formatted(Verification.LIMIT)
        : "not equal%s; the cause:\n".formatted(updates);
  }

  /** Breaks a paragraph at spaces. */
  private static String wrapped(String paragraph) {
    var text = new StringBuilder();
    int column = 0;
    for (var word : paragraph.split(" ", -1)) {
      if (column > 0 && column + word.length() + 1 > WIDTH) {
        text.append("\n  ");
        column = 2;
      } else if (column > 0) {
        text.append(' ');
        column++;
      }
      text.append(word);
      column += word.length();
    }
    return text.append('\n').toString();
  }

  static Map<String, Object> json(Verification result) {
    Map<String, Object> shown = new LinkedHashMap<>();
    shown.put("equal", result.isEqual());
    shown.put("limit", Verification.LIMIT);
    shown.put("k_steps", result.kSteps());
    shown.put("windows", result.windows());
    shown.put("updates", result.updates());
    shown.put("parameters", result.parameters().stream().map(VerifyText::json).toList());
    shown.put(
        "causes",
        result.causes().stream()
            .map(
                cause ->
                    Map.of(
                        "kind",
                        cause.kind().name().toLowerCase(Locale.ROOT),
                        "message",
                        cause.message()))
            .toList());
    shown.put("notes", result.notes());
    return shown;
  }

  private static Map<String, Object> json(Difference parameter) {
    Map<String, Object> shown = new LinkedHashMap<>();
    shown.put("name", parameter.name());
    shown.put("gradient_float64", parameter.gradient64());
    shown.put("gradient_float32", parameter.gradient32());
    shown.put("weights_float64", parameter.weights64());
    shown.put("weights_float32", parameter.weights32());
    return shown;
  }
}
