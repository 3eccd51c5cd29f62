package dev.flotilla.board.page;

import dev.flotilla.board.run.Run;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Tables of numbers, as RFC 4180 has them: {@code runs.csv} compares runs, and each run has the
 * points of all its curves, none left out.
 */
final class Csv {

  private Csv() {}

  static List<Path> write(List<Run> runs, Path folder) throws IOException {
    Files.createDirectories(folder);
    Set<String> taken = new HashSet<>();
    List<Path> files = new ArrayList<>();
    files.add(folder.resolve(FileWriting.name("runs", ".csv", taken)));
    FileWriting.replace(files.getFirst(), comparison(runs));
    for (var run : runs) {
      var file = folder.resolve(FileWriting.name(run.name(), ".csv", taken));
      FileWriting.replace(file, curves(run));
      files.add(file);
    }
    return files;
  }

  static String comparison(List<Run> runs) {
    Set<String> names = new LinkedHashSet<>();
    runs.forEach(run -> Result.of(run).forEach(it -> names.add(it.name())));
    var text = new StringBuilder();
    List<String> head = new ArrayList<>(List.of("run", "finished"));
    head.addAll(names);
    line(text, head);
    for (var run : runs) {
      var values =
          Result.of(run).stream()
              .collect(Collectors.toMap(Result::name, it -> number(it.value()), (a, _) -> a));
      List<String> cells = new ArrayList<>(List.of(run.name(), Boolean.toString(run.isFinished())));
      names.forEach(name -> cells.add(values.getOrDefault(name, "")));
      line(text, cells);
    }
    return text.toString();
  }

  static String curves(Run run) {
    var text = new StringBuilder();
    line(text, List.of("chart", "line", "unit", "update", "value"));
    for (var series : run.series()) {
      var key = series.key();
      for (int i = 0; i < series.size(); i++) {
        line(
            text,
            List.of(
                key.chart(),
                key.line(),
                key.unit(),
                number(series.update(i)),
                number(series.value(i))));
      }
    }
    return text.toString();
  }

  private static String number(double value) {
    return value == Math.rint(value) && Math.abs(value) < 1e15
        ? Long.toString((long) value)
        : Double.toString(value);
  }

  private static void line(StringBuilder text, List<String> cells) {
    text.append(String.join(",", cells.stream().map(Csv::cell).toList())).append("\r\n");
  }

  /** A spreadsheet would take a text that begins with one of these for a formula. */
  private static String cell(String value) {
    boolean isNumber = value.matches("-?[0-9.]+(E-?[0-9]+)?");
    var plain = !isNumber && value.matches("(?s)[=+@\\t\\r-].*") ? "'" + value : value;
    return plain.matches("(?s).*[\",\\r\\n].*") ? "\"" + plain.replace("\"", "\"\"") + "\"" : plain;
  }
}
