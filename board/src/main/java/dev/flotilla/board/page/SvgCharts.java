package dev.flotilla.board.page;

import dev.flotilla.board.run.Run;
import dev.flotilla.board.run.Series;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Writes one picture for each chart of some runs. */
final class SvgCharts {

  private static final int POINTS = 800;

  private SvgCharts() {}

  static List<Path> write(List<Run> runs, Path folder) throws IOException {
    Files.createDirectories(folder);
    Set<String> taken = new HashSet<>();
    List<Path> files = new ArrayList<>();
    for (var chart : charts(runs).entrySet()) {
      var file = folder.resolve(FileWriting.name(chart.getKey(), ".svg", taken));
      FileWriting.replace(file, new SvgChart(chart.getKey(), chart.getValue()).text());
      files.add(file);
    }
    return files;
  }

  private static Map<String, List<SvgChart.Line>> charts(List<Run> runs) {
    Map<String, List<SvgChart.Line>> charts = new LinkedHashMap<>();
    for (int i = 0; i < runs.size(); i++) {
      for (var series : runs.get(i).series()) {
        var lines = charts.computeIfAbsent(series.key().chart(), _ -> new ArrayList<>());
        int colour = runs.size() == 1 ? lines.size() : i;
        lines.add(
            new SvgChart.Line(
                label(runs, i, series), colour, dash(series), series.thinned(POINTS)));
      }
    }
    return charts;
  }

  private static String label(List<Run> runs, int run, Series series) {
    var key = series.key();
    if (runs.size() == 1) {
      return key.line().isEmpty() ? key.chart() : key.line();
    }
    return (runs.get(run).name() + " " + key.line()).strip();
  }

  private static String dash(Series series) {
    return switch (series.key().line()) {
      case "test", "largest", "GPU peak" -> "6 4";
      case "ema" -> "2 3";
      default -> "";
    };
  }
}
