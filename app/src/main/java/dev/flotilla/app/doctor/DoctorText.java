package dev.flotilla.app.doctor;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;

/** Prints findings. */
public final class DoctorText {

  private static final int LARGEST_TABLE = 8;

  private DoctorText() {}

  /** Returns one line per finding, with what it means and what mends it where that is needed. */
  public static String of(List<Finding> findings) {
    var text = new StringBuilder();
    for (var it : findings) {
      text.append("%-8s %-12s %s%n".formatted(it.level().word(), it.check(), it.seen()));
      if (!it.meaning().isEmpty()) {
        text.append("%22smeans: %s%n".formatted("", it.meaning()));
      }
      if (!it.fix().isEmpty()) {
        text.append("%22smend:  %s%n".formatted("", it.fix()));
      }
    }
    return text.toString();
  }

  /** Returns the sum of it in a line. */
  public static String verdict(List<Finding> findings, double seconds) {
    long errors = findings.stream().filter(it -> it.level() == Level.ERROR).count();
    long warnings = findings.stream().filter(it -> it.level() == Level.WARNING).count();
    return String.format(
        Locale.ROOT,
        "%d checks, %d error%s, %d warning%s, %.1f s%n",
        findings.size(),
        errors,
        errors == 1 ? "" : "s",
        warnings,
        warnings == 1 ? "" : "s",
        seconds);
  }

  /** Returns a table of the rates between few ranks; nothing for one rank or for many. */
  public static String table(Measured measured) {
    int ranks = measured.hosts().size();
    if (ranks < 2 || ranks > LARGEST_TABLE) {
      return "";
    }
    var text = new StringBuilder("Mbit/s, and ms one way, from the rank of the row:\n       ");
    for (int to = 0; to < ranks - 1; to++) {
      text.append("%16s".formatted("to rank " + to));
    }
    text.append('\n');
    for (int from = 1; from < ranks; from++) {
      text.append("rank %d ".formatted(from));
      for (int to = 0; to < from; to++) {
        text.append("%16s".formatted(cell(measured, from, to)));
      }
      text.append('\n');
    }
    return text.toString();
  }

  private static String cell(Measured measured, int from, int to) {
    return measured.pairs().stream()
        .filter(it -> it.from() == from && it.to() == to)
        .map(
            it ->
                String.format(
                    Locale.ROOT, "%.0f %.3f", it.bitsPerSecond() / 1e6, 1e3 * it.latency()))
        .findFirst()
        .orElse("-");
  }

  /** Returns everything as maps and lists for JSON. */
  public static Map<String, Object> json(
      List<Finding> findings, Optional<Measured> measured, OptionalDouble seconds) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("errors", findings.stream().filter(it -> it.level() == Level.ERROR).count());
    json.put("warnings", findings.stream().filter(it -> it.level() == Level.WARNING).count());
    seconds.ifPresent(it -> json.put("seconds", it));
    json.put("findings", findings.stream().map(DoctorText::json).toList());
    measured.ifPresent(it -> json.put("measured", it.json()));
    return json;
  }

  private static Map<String, Object> json(Finding finding) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("check", finding.check());
    json.put("level", finding.level().word());
    json.put("seen", finding.seen());
    json.put("means", finding.meaning());
    json.put("mend", finding.fix());
    return json;
  }
}
