package dev.flotilla.train;

import dev.flotilla.collective.Collective;
import dev.flotilla.collective.Traffic;
import dev.flotilla.memory.NativeView;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.memory.Tensors;
import dev.flotilla.state.State;
import java.lang.foreign.ValueLayout;
import java.util.Optional;

/** What the callbacks of a rank ask for, until all ranks do it. */
final class Requests {

  private static final int NUMBERS = 4;

  private boolean stops;
  private String reason = "";
  private boolean evaluates;

  /** The learning rate in place of the optimizer's, not a number for none; and what scales it. */
  private double rate = Double.NaN;

  private double factor = 1;

  void stop(String why) {
    if (!stops) {
      stops = true;
      reason = why;
    }
  }

  void evaluate() {
    evaluates = true;
  }

  void setRate(double value) {
    rate = value;
    factor = 1;
  }

  void scaleRate(double by) {
    factor *= by;
  }

  Optional<String> stopReason() {
    return stops ? Optional.of(reason) : Optional.empty();
  }

  boolean evaluates() {
    return evaluates;
  }

  double rate() {
    return rate;
  }

  double factor() {
    return factor;
  }

  private boolean changesRate() {
    return !Double.isNaN(rate) || factor != 1;
  }

  boolean isEmpty() {
    return !stops && !evaluates && !changesRate();
  }

  /** Returns what all ranks ask for together, the same on each; all of them call it together. */
  Requests overRanks(Collective collective) {
    if (collective.size() == 1) {
      return this;
    }
    double[] numbers = gathered(collective);
    var all = new Requests();
    int stopping = -1;
    for (int rank = collective.size() - 1; rank >= 0; rank--) {
      int at = rank * NUMBERS;
      stopping = numbers[at] > 0 ? rank : stopping;
      all.evaluates |= numbers[at + 1] > 0;
      if (!Double.isNaN(numbers[at + 2]) || numbers[at + 3] != 1) {
        all.rate = numbers[at + 2];
        all.factor = numbers[at + 3];
      }
    }
    if (stopping >= 0) {
      all.stop(reasonOf(stopping, collective));
    }
    return all;
  }

  private double[] gathered(Collective collective) {
    try (var _ = TensorScope.open()) {
      var all = Tensors.ofDoubles(new double[NUMBERS * collective.size()]);
      var own = Tensors.ofDoubles(stops ? 1 : 0, evaluates ? 1 : 0, rate, factor);
      collective.allGather(all, own, Traffic.SCALAR).await();
      return NativeView.of(all).toArray(ValueLayout.JAVA_DOUBLE);
    }
  }

  private String reasonOf(int rank, Collective collective) {
    var store = collective.keyValueStore().section("callbacks");
    if (collective.rank() == rank) {
      store.set("reason", " " + reason);
    }
    collective.barrier();
    return store.get("reason").map(String::strip).orElse(reason);
  }

  /** Puts itself down, or takes up what was saved; it must be what all ranks ask for. */
  void remember(State state) {
    stops = state.number("stops", stops ? 1 : 0) == 1;
    reason = state.text("reason", reason);
    evaluates = state.number("evaluates", evaluates ? 1 : 0) == 1;
    rate = state.real("rate", rate);
    factor = state.real("factor", factor);
  }
}
