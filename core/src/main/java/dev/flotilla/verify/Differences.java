package dev.flotilla.verify;

import dev.flotilla.arena.Slot;
import java.util.List;
import java.util.function.Function;

/**
 * Two recordings, update by update.
 *
 * <p>The difference of a parameter is ‖Δ‖ / max(‖g‖, 10⁻⁴ ‖G‖), where g is its gradient and G that
 * of all parameters: a parameter whose gradient is zero but for rounding would otherwise differ by
 * any amount.
 */
final class Differences {

  private static final double SMALLEST_SHARE = 1e-4;

  private final Recording ours;
  private final Recording reference;

  Differences(Recording ours, Recording reference) {
    this.ours = ours;
    this.reference = reference;
  }

  private int common() {
    return Math.min(ours.updates().size(), reference.updates().size());
  }

  boolean sameNumberOfUpdates() {
    return ours.updates().size() == reference.updates().size();
  }

  List<Slot> slots() {
    return ours.layout().slots();
  }

  double ofGradient(Slot slot) {
    return worst(slot, Recording.Made::gradient);
  }

  double ofWeights(Slot slot) {
    return worst(slot, Recording.Made::weights);
  }

  private double worst(Slot slot, Function<Recording.Made, double[]> part) {
    double worst = 0;
    for (int i = 0; i < common(); i++) {
      worst = Math.max(worst, at(i, slot, part));
    }
    return worst;
  }

  private double at(int update, Slot slot, Function<Recording.Made, double[]> part) {
    double[] left = part.apply(ours.updates().get(update));
    double[] right = part.apply(reference.updates().get(update));
    int from = (int) slot.offset();
    int to = from + (int) slot.length();
    double difference = 0;
    for (int i = from; i < to; i++) {
      difference += (left[i] - right[i]) * (left[i] - right[i]);
    }
    double size = Math.max(norm(right, from, to), SMALLEST_SHARE * norm(right, 0, right.length));
    double relative = difference == 0 ? 0 : Math.sqrt(difference) / size;
    return Double.isNaN(relative) ? Double.POSITIVE_INFINITY : relative;
  }

  private static double norm(double[] values, int from, int to) {
    double sum = 0;
    for (int i = from; i < to; i++) {
      sum += values[i] * values[i];
    }
    return Math.sqrt(sum);
  }

  boolean isFinite() {
    return ours.updates().stream().allMatch(Differences::isFinite)
        && reference.updates().stream().allMatch(Differences::isFinite);
  }

  private static boolean isFinite(Recording.Made update) {
    return Double.isFinite(norm(update.gradient(), 0, update.gradient().length))
        && Double.isFinite(norm(update.weights(), 0, update.weights().length));
  }

  /** Tells whether weights part before any gradient does. */
  boolean weightsPartFirst(double limit) {
    for (int i = 0; i < common(); i++) {
      if (largest(i, Recording.Made::gradient) > limit) {
        return false;
      }
      if (largest(i, Recording.Made::weights) > limit) {
        return true;
      }
    }
    return false;
  }

  private double largest(int update, Function<Recording.Made, double[]> part) {
    return slots().stream().mapToDouble(slot -> at(update, slot, part)).max().orElse(0);
  }
}
