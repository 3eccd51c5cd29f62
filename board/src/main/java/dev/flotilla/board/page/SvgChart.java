package dev.flotilla.board.page;

import dev.flotilla.board.run.Series;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleBiFunction;
import java.util.stream.IntStream;

/**
 * Draws curves as SVG for documents: axes with round numbers, one polyline per curve, a legend.
 *
 * @param title what is measured
 * @param lines the curves, at least one
 */
record SvgChart(String title, List<Line> lines) {

  /** Okabe and Ito's colours, but for yellow, which cannot be read on white. */
  private static final List<String> COLOURS =
      List.of("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000");

  private static final int WIDTH = 720;
  private static final int LEFT = 70;
  private static final int RIGHT = 20;
  private static final int TOP = 36;
  private static final int HEIGHT = 300;
  private static final int LEGEND = 20;
  private static final int TICKS = 5;

  /**
   * One curve.
   *
   * @param label its name in the legend
   * @param colour number of its colour
   * @param dash pattern of SVG, or empty
   * @param points the points, thinned
   */
  record Line(String label, int colour, String dash, Series points) {}

  /** A range of values, and what it is as a place in the picture. */
  private record Scale(double from, double to, double start, double end) {

    double place(double value) {
      return start + (value - from) / (to - from) * (end - start);
    }

    /** Steps of 1, 2 or 5 times a power of ten. */
    double step() {
      double rough = (to - from) / TICKS;
      double power = Math.pow(10, Math.floor(Math.log10(rough)));
      double digits = rough / power;
      return power * (digits < 1.5 ? 1 : digits < 3.5 ? 2 : digits < 7.5 ? 5 : 10);
    }
  }

  String text() {
    var x = scale(Series::update, LEFT, WIDTH - RIGHT);
    var y = scale(Series::value, TOP + HEIGHT, TOP);
    int all = TOP + HEIGHT + 44 + LEGEND * lines.size();
    var svg = new StringBuilder();
    svg.append(
        format(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\""
                + " height=\"%d\" role=\"img\" font-family=\"sans-serif\" font-size=\"12\">%n",
            WIDTH, all, WIDTH, all));
    svg.append(format("<title>%s</title>%n", escaped(title)));
    svg.append(format("<rect width=\"%d\" height=\"%d\" fill=\"#ffffff\"/>%n", WIDTH, all));
    svg.append(
        format(
            "<text x=\"%d\" y=\"22\" font-size=\"15\" font-weight=\"bold\">%s</text>%n",
            LEFT, escaped(title)));
    axes(svg, x, y);
    for (int i = 0; i < lines.size(); i++) {
      curve(svg, lines.get(i), x, y);
      legend(svg, lines.get(i), TOP + HEIGHT + 48 + LEGEND * i);
    }
    return svg.append("</svg>\n").toString();
  }

  private Scale scale(ToDoubleBiFunction<Series, Integer> of, double start, double end) {
    var values =
        lines.stream()
            .map(Line::points)
            .flatMap(it -> IntStream.range(0, it.size()).mapToObj(i -> of.applyAsDouble(it, i)))
            .mapToDouble(Double::doubleValue)
            .filter(Double::isFinite)
            .summaryStatistics();
    if (values.getCount() == 0) {
      return new Scale(0, 1, start, end);
    }
    double low = values.getMin();
    double high = values.getMax();
    double room = high > low ? 0 : Math.max(1e-9, Math.abs(high) / 10);
    return new Scale(low - room, high + room, start, end);
  }

  private static void axes(StringBuilder svg, Scale x, Scale y) {
    for (double at = first(y); at <= y.to(); at += y.step()) {
      double place = y.place(at);
      svg.append(
          format(
              "<line x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"#dddddd\"/><text x=\"%d\""
                  + " y=\"%.1f\" text-anchor=\"end\">%s</text>%n",
              LEFT, WIDTH - RIGHT, place, place, LEFT - 8, place + 4, number(at, y.step())));
    }
    for (double at = first(x); at <= x.to(); at += x.step()) {
      svg.append(
          format(
              "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%s</text>%n",
              x.place(at), TOP + HEIGHT + 18, number(at, x.step())));
    }
    svg.append(
        format(
            "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\" fill=\"#555555\">updates</text>%n",
            (LEFT + WIDTH - RIGHT) / 2, TOP + HEIGHT + 34));
  }

  private static double first(Scale scale) {
    return Math.ceil(scale.from() / scale.step() - 1e-9) * scale.step();
  }

  private static String number(double value, double step) {
    double size = Math.abs(value);
    if (size >= 1e5 || (step < 1e-4 && size > 0)) {
      return format("%.3g", value).replace("e+0", "e").replace("e-0", "e-");
    }
    int digits = step >= 1 ? 0 : (int) Math.ceil(-Math.log10(step) - 1e-9);
    return format("%." + digits + "f", value == 0 ? 0.0 : value);
  }

  /** A value that is not finite breaks the line. */
  private static void curve(StringBuilder svg, Line line, Scale x, Scale y) {
    var path = new StringBuilder();
    boolean isBroken = true;
    var points = line.points();
    for (int i = 0; i < points.size(); i++) {
      if (Double.isFinite(points.value(i))) {
        path.append(
            format(
                "%s%.1f %.1f",
                isBroken ? "M" : "L", x.place(points.update(i)), y.place(points.value(i))));
      }
      isBroken = !Double.isFinite(points.value(i));
    }
    svg.append(
        format(
            "<path d=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"1.6\"%s/>%n",
            path, colour(line), dashes(line)));
  }

  private static void legend(StringBuilder svg, Line line, int at) {
    svg.append(
        format(
            "<line x1=\"%d\" x2=\"%d\" y1=\"%d\" y2=\"%d\" stroke=\"%s\""
                + " stroke-width=\"2\"%s/><text x=\"%d\" y=\"%d\">%s</text>%n",
            LEFT,
            LEFT + 26,
            at,
            at,
            colour(line),
            dashes(line),
            LEFT + 34,
            at + 4,
            escaped(line.label())));
  }

  private static String colour(Line line) {
    return COLOURS.get(line.colour() % COLOURS.size());
  }

  private static String dashes(Line line) {
    return line.dash().isEmpty() ? "" : format(" stroke-dasharray=\"%s\"", line.dash());
  }

  /** Names are text; what XML cannot hold is left out. */
  static String escaped(String text) {
    return text.replaceAll("[^\\t\\n\\x20-\\uD7FF\\uE000-\\uFFFD\\x{10000}-\\x{10FFFF}]", "")
        .replace("&", "&amp;")
        .replace("<", "&lt;")
        .replace(">", "&gt;")
        .replace("\"", "&quot;");
  }

  private static String format(String pattern, Object... values) {
    return String.format(Locale.ROOT, pattern, values);
  }
}
