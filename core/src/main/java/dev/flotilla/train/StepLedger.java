package dev.flotilla.train;

import dev.flotilla.collective.Collective;
import dev.flotilla.collective.Reduction;
import dev.flotilla.collective.Traffic;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.memory.Tensors;
import dev.flotilla.step.StepClock;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Where the time of a rank went since it was started, by the names that events and summaries have.
 *
 * @param data seconds that it waited for data
 * @param steps seconds of its steps
 * @param total seconds of all of its training, evaluations and checkpoints left out
 */
record StepLedger(double data, StepClock.Seconds steps, double total) {

  private static final List<String> NAMES =
      List.of("data", "forward", "backward", "exchange", "update", "other", "hidden");

  /** Returns the seconds of each part; what is left over is called other. */
  Map<String, Double> byName() {
    return named(numbers(), 0);
  }

  private double[] numbers() {
    double known = data + steps.forward() + steps.backward() + steps.exchange() + steps.update();
    return new double[] {
      data,
      steps.forward(),
      steps.backward(),
      steps.exchange(),
      steps.update(),
      Math.max(0, total - known),
      steps.hidden()
    };
  }

  private static Map<String, Double> named(double[] numbers, int from) {
    Map<String, Double> named = new LinkedHashMap<>();
    for (int i = 0; i < NAMES.size(); i++) {
      named.put(NAMES.get(i), Math.round(1e6 * numbers[from + i]) / 1e6);
    }
    return named;
  }

  /** Returns those of all ranks, in order; all ranks call it together. */
  static List<Map<String, Double>> ofAll(Map<String, Double> own, Collective collective) {
    int parts = NAMES.size();
    var all = new double[collective.size() * parts];
    for (int i = 0; i < parts; i++) {
      all[collective.rank() * parts + i] = own.getOrDefault(NAMES.get(i), 0.0);
    }
    try (var _ = TensorScope.open()) {
      var sums = Tensors.ofDoubles(all);
      collective.allReduce(sums, Reduction.SUM, Traffic.SCALAR).await();
      var gathered = Tensors.toDoubles(sums);
      List<Map<String, Double>> byRank = new ArrayList<>();
      for (int rank = 0; rank < collective.size(); rank++) {
        byRank.add(named(gathered, rank * parts));
      }
      return byRank;
    }
  }
}
