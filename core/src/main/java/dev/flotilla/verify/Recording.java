package dev.flotilla.verify;

import dev.flotilla.arena.Layout;
import dev.flotilla.data.Dataset;
import dev.flotilla.memory.TensorScope;
import java.util.ArrayList;
import java.util.List;

/** The updates that a loop has made, with their gradients and what the weights were after them. */
final class Recording {

  /** One update. */
  static final class Made {
    private final int after;
    private final double[] gradient;
    private final double[] weights;

    private Made(int after, double[] gradient, double[] weights) {
      this.after = after;
      this.gradient = gradient;
      this.weights = weights;
    }

    /** Returns the number of the micro-batch that it followed. */
    int after() {
      return after;
    }

    double[] gradient() {
      return gradient;
    }

    double[] weights() {
      return weights;
    }
  }

  private final Layout layout;
  private final double[] initial;
  private final List<Made> updates = new ArrayList<>();

  private Recording(Layout layout, double[] initial) {
    this.layout = layout;
    this.initial = initial;
  }

  static Recording of(Loop loop, ModelState start, Dataset data, List<MicroBatch> batches) {
    start.restore(loop.model());
    var arena = loop.model().arena();
    var recording = new Recording(arena.layout(), FlatCopy.of(arena.values()));
    for (var place : batches) {
      try (var _ = TensorScope.open()) {
        loop.step(data.load(place.samples()), place)
            .ifPresent(
                gradient ->
                    recording.updates.add(
                        new Made(place.index(), gradient, FlatCopy.of(arena.values()))));
      }
    }
    return recording;
  }

  Layout layout() {
    return layout;
  }

  List<Made> updates() {
    return updates;
  }

  double[] weightsBefore(int update) {
    return update == 0 ? initial : updates.get(update - 1).weights();
  }
}
