package dev.flotilla.verify;

import dev.flotilla.verify.Cause.Kind;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * What the updates of a loop were made of: which micro-batches, each with which weight.
 *
 * <p>The weight of a micro-batch is what its mean gradient is multiplied by. In the mean over all
 * loss terms it is nᵢ / Σ n; the weights of any mean add up to 1.
 */
final class Composition {

  private static final double EPSILON = 1e-4;

  /**
   * A micro-batch in an update.
   *
   * @param place the micro-batch
   * @param terms its loss terms
   * @param weight what its mean gradient is multiplied by; NaN if unknown
   */
  record Part(MicroBatch place, long terms, double weight) {
    boolean isUsed() {
      return !(Math.abs(weight) < EPSILON);
    }
  }

  /**
   * An update.
   *
   * @param number its number, from 0
   * @param parts micro-batches since the update before it
   */
  record Window(int number, List<Part> parts) {

    List<Part> used() {
      return parts.stream().filter(Part::isUsed).toList();
    }

    List<Part> unused() {
      return parts.stream().filter(part -> !part.isUsed()).toList();
    }

    boolean isKnown() {
      return parts.stream().noneMatch(part -> Double.isNaN(part.weight()));
    }

    double total() {
      return parts.stream().mapToDouble(Part::weight).sum();
    }

    boolean isSum() {
      int size = used().size();
      return isKnown() && size > 1 && Math.abs(total() - size) < EPSILON * size;
    }

    boolean isMean() {
      return !isKnown() || Math.abs(total() - 1) < EPSILON;
    }

    boolean straddlesEpochs() {
      var used = used();
      return !used.isEmpty() && used.getFirst().place().epoch() != used.getLast().place().epoch();
    }
  }

  private final WindowPlan plan;
  private final int kSteps;
  private final List<Window> windows;

  private Composition(WindowPlan plan, int kSteps, List<Window> windows) {
    this.plan = plan;
    this.kSteps = kSteps;
    this.windows = windows;
  }

  /** Runs every micro-batch of a recording again, at the weights that it saw. */
  static Composition of(Recording recording, WindowPlan plan, int kSteps, Probe probe) {
    List<Window> windows = new ArrayList<>();
    int next = 0;
    for (int i = 0; i < recording.updates().size(); i++) {
      var update = recording.updates().get(i);
      probe.setWeights(recording.weightsBefore(i));
      var places = plan.microBatches().subList(next, update.after() + 1);
      windows.add(new Window(i, parts(places, update.gradient(), probe)));
      next = update.after() + 1;
    }
    return new Composition(plan, kSteps, windows);
  }

  private static List<Part> parts(List<MicroBatch> places, double[] gradient, Probe probe) {
    List<double[]> columns = new ArrayList<>();
    List<Long> terms = new ArrayList<>();
    for (var place : places) {
      var pass = probe.pass(place.samples(), place.index());
      columns.add(FlatCopy.thinned(pass.gradient()));
      terms.add(pass.terms());
    }
    var coefficients = LeastSquares.of(FlatCopy.thinned(gradient), columns);
    List<Part> parts = new ArrayList<>();
    for (int i = 0; i < places.size(); i++) {
      double weight = coefficients.isEmpty() ? Double.NaN : coefficients.get()[i] * terms.get(i);
      parts.add(new Part(places.get(i), terms.get(i), weight));
    }
    return parts;
  }

  /** Returns what is wrong with boundaries, divisors and weights. */
  List<Cause> causes() {
    List<Cause> causes = new ArrayList<>(placement());
    boolean isPlaced = causes.isEmpty();
    var sum = windows.stream().filter(Window::isSum).findFirst();
    sum.ifPresent(window -> causes.add(sum(window)));
    if (isPlaced && sum.isEmpty()) {
      windows.stream()
          .filter(window -> !window.isMean())
          .findFirst()
          .ifPresent(window -> causes.add(divisor(window)));
    }
    windows.stream()
        .filter(Composition::isUnfair)
        .findFirst()
        .ifPresent(window -> causes.add(unfair(window)));
    return causes;
  }

  /** Judges the first update that is not made of exactly one window: the later ones follow it. */
  private List<Cause> placement() {
    for (var window : windows) {
      if (!window.unused().isEmpty()) {
        return List.of(unused(window.unused().stream().map(Part::place).toList(), "thrown away"));
      }
      if (window.straddlesEpochs()) {
        return List.of(carried(window));
      }
      if (!isPlanned(window)) {
        return List.of(boundaries());
      }
    }
    int end = windows.isEmpty() ? 0 : windows.getLast().parts().getLast().place().index() + 1;
    var left = plan.microBatches().subList(end, plan.microBatches().size());
    return left.isEmpty() ? List.of() : List.of(unused(left, "in no update"));
  }

  private boolean isPlanned(Window window) {
    var places = window.used().stream().map(Part::place).toList();
    return plan.windows().contains(places);
  }

  private Cause unused(List<MicroBatch> places, String fate) {
    boolean atEnd = places.getLast().isLastOfEpoch() && places.size() < kSteps;
    var which = places.stream().map(place -> "" + place.index()).collect(Collectors.joining(", "));
    return atEnd
        ? new Cause(
            Kind.TAIL,
            "The epoch ends with an incomplete window: %s %s. One large batch would be made of %s. Use tail: flush."
                .formatted(
                    micro(places.size()) + (places.size() == 1 ? " is" : " are"),
                    fate,
                    places.size() == 1 ? "it" : "them"))
        : new Cause(
            Kind.BOUNDARY, "Micro-batches %s (counted from 0) are %s.".formatted(which, fate));
  }

  private Cause carried(Window window) {
    var places = window.used().stream().map(Part::place).toList();
    int epoch = places.getFirst().epoch();
    long old = places.stream().filter(place -> place.epoch() == epoch).count();
    return new Cause(
        Kind.TAIL,
        ("Leftover micro-batches are carried into the next epoch: update %d (counted from 0) holds"
                + " %d from the end of epoch %d and %d of the next epoch%s. Use tail: flush.")
            .formatted(window.number(), old, epoch, places.size() - old, divisorOf(window)));
  }

  private Cause boundaries() {
    return new Cause(
        Kind.BOUNDARY,
        ("Updates follow micro-batches %s instead of %s (counted from 0): their windows hold %s"
                + " micro-batches instead of %s%s.")
            .formatted(
                listed(windows.stream().map(w -> w.parts().getLast().place().index()).toList()),
                listed(plan.windows().stream().map(w -> w.getLast().index()).toList()),
                listed(windows.stream().map(w -> w.used().size()).toList()),
                listed(plan.windows().stream().map(List::size).toList()),
                divisorOf(windows.getFirst())));
  }

  private static String divisorOf(Window window) {
    return window.isMean() || window.isSum()
        ? ""
        : ", and update %d is %s times the mean of what it holds"
            .formatted(window.number(), number(window.total()));
  }

  private static Cause sum(Window window) {
    return new Cause(
        Kind.SUM,
        ("The gradient is not divided: update %d (counted from 0) is %s times the mean of its %s."
                + " It acts as a learning rate %s times as high. Use avg: true, or divide.")
            .formatted(
                window.number(),
                number(window.total()),
                micro(window.used().size()),
                number(window.total())));
  }

  private Cause divisor(Window window) {
    boolean atEnd = window.parts().getLast().place().isLastOfEpoch();
    boolean isTail = atEnd && window.used().size() < kSteps;
    return new Cause(
        isTail ? Kind.TAIL : Kind.DIVISOR,
        "Update %d (counted from 0)%s is %s times the mean of its %s."
            .formatted(
                window.number(),
                isTail ? ", the last of its epoch," : "",
                number(window.total()),
                micro(window.used().size())));
  }

  /** Tells whether terms count more in one micro-batch than in another. */
  private static boolean isUnfair(Window window) {
    var used = window.used();
    if (!window.isKnown() || used.isEmpty()) {
      return false;
    }
    double first = used.getFirst().weight() / used.getFirst().terms();
    return used.stream()
        .anyMatch(part -> Math.abs(part.weight() / part.terms() / first - 1) > EPSILON);
  }

  private static Cause unfair(Window window) {
    var used = window.used();
    return new Cause(
        Kind.UNEQUAL_COUNTS,
        ("The micro-batches of update %d (counted from 0) hold %s loss terms but have weights of"
             + " %s: a term counts more in a small micro-batch than in a large one. Use weighting:"
             + " terms.")
            .formatted(
                window.number(),
                listed(used.stream().map(Part::terms).toList()),
                listed(used.stream().map(part -> number(part.weight())).toList())));
  }

  private static String micro(int count) {
    return count == 1 ? "1 micro-batch" : count + " micro-batches";
  }

  private static String listed(List<?> values) {
    return values.stream().map(String::valueOf).collect(Collectors.joining(", "));
  }

  private static String number(double value) {
    var text = String.format(Locale.ROOT, "%.4f", value);
    return text.replaceFirst("\\.?0+$", "");
  }
}
