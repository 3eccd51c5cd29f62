package dev.flotilla.board.page;

import dev.flotilla.board.run.Run;
import dev.flotilla.board.run.RunException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;

/** Shows one run, or compares several, in files. */
public final class Report {

  /** Name of the page in a run's folder. */
  public static final String FILE = "report.html";

  /** The largest page. */
  static final int MOST_BYTES = 5_000_000;

  private static final int MOST_POINTS = 2_000;
  private static final int LEAST_POINTS = 8;

  /** Points of all curves in one chart that a browser draws at once. */
  private static final int POINTS_OF_CHART = 24_000;

  private final List<Run> runs;

  /** Makes the report of runs, which are compared if there are several. */
  public Report(List<Run> runs) {
    if (runs.isEmpty()) {
      throw new IllegalArgumentException("a report needs a run");
    }
    this.runs = List.copyOf(runs);
  }

  /**
   * Writes the page of the run in a folder into the folder.
   *
   * @throws RunException if the folder holds no run that can be read
   * @throws IOException if it cannot be written
   */
  public static void writeInto(Path folder) throws IOException {
    new Report(List.of(Run.read(folder))).write(folder.resolve(FILE));
  }

  /**
   * Returns the page. Curves are thinned until it is small enough: of neighbours the smallest and
   * the largest stay.
   *
   * @throws RunException if there is too much else in it
   */
  public String html() {
    int points = Math.min(MOST_POINTS, Math.max(100, POINTS_OF_CHART / (2 * runs.size())));
    int moments = Math.max(50, 2_000 / runs.size());
    while (true) {
      var page = Page.of(RunJson.of(runs, points, moments));
      if (page.length() <= MOST_BYTES && size(page) <= MOST_BYTES) {
        return page;
      }
      if (points == LEAST_POINTS && moments == 0) {
        throw new RunException(
            "%d runs with their settings do not fit into a page of %d MB; give fewer runs"
                .formatted(runs.size(), MOST_BYTES / 1_000_000));
      }
      points = Math.max(LEAST_POINTS, points / 2);
      moments /= 2;
    }
  }

  private static int size(String text) {
    return text.getBytes(StandardCharsets.UTF_8).length;
  }

  /**
   * Writes the page; to a new name first, so that a half-written one never shows.
   *
   * @throws IOException if it cannot be written
   */
  public void write(Path file) throws IOException {
    FileWriting.replace(file, html());
  }

  /**
   * Writes the numbers: a table that compares the runs, and one of each run's curves.
   *
   * @return the files
   * @throws IOException if one cannot be written
   */
  public List<Path> writeCsv(Path folder) throws IOException {
    return Csv.write(runs, folder);
  }

  /**
   * Writes each chart as a picture.
   *
   * @return the files
   * @throws IOException if one cannot be written
   */
  public List<Path> writeSvg(Path folder) throws IOException {
    return SvgCharts.write(runs, folder);
  }
}
