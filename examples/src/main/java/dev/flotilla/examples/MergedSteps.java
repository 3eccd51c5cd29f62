package dev.flotilla.examples;

import dev.flotilla.memory.TensorScope;
import dev.flotilla.optim.Momentum;
import dev.flotilla.train.Trainer;
import dev.flotilla.world.World;
import dev.flotilla.zoo.data.Digits;
import dev.flotilla.zoo.model.LeNet5;
import java.util.ArrayList;
import java.util.List;

/**
 * Gradient merge in a loop of its own: four micro-batches make one update, so a parameter stays for
 * three iterations and moves at the fourth.
 */
public final class MergedSteps {

  private static final int K = 4;

  private MergedSteps() {}

  /** Prints the first parameter after each iteration, and checks where it moved. */
  public static void main(String[] args) {
    var rows = run(3 * K);
    System.out.println("iteration  first parameter  moved");
    rows.forEach(row -> System.out.println(row));
    boolean asPromised =
        rows.stream().allMatch(row -> row.moved() == ((row.iteration() + 1) % K == 0));
    System.out.println(asPromised ? "moved at every fourth iteration only" : "NOT as promised");
  }

  /**
   * A line of the table.
   *
   * @param iteration number of the micro-batch, from 0
   * @param parameter first weight of the first layer afterwards
   * @param moved whether it changed
   */
  record Row(int iteration, double parameter, boolean moved) {
    @Override
    public String toString() {
      return "%9d  %15.9f  %s".formatted(iteration, parameter, moved ? "yes" : "no");
    }
  }

  static List<Row> run(int iterations) {
    var shard = new Digits().train().batches(16).shuffled(42).epoch(0, 0, 1);
    List<Row> rows = new ArrayList<>();
    try (var trainer =
        Trainer.on(World.solo()).model(new LeNet5(10)).optimizer(new Momentum(0.05, 0.9)).build()) {
      var step = trainer.ownLoop().accumulating(K);
      double before = firstParameter(trainer);
      for (int i = 0; i < iterations; i++) {
        try (var _ = TensorScope.open()) {
          step.add(shard.load(i));
        }
        double after = firstParameter(trainer);
        rows.add(new Row(i, after, after != before));
        before = after;
      }
    }
    return rows;
  }

  private static double firstParameter(Trainer trainer) {
    try (var _ = TensorScope.open()) {
      return trainer.model().parameter("conv1.weight").flatten().narrow(0, 0, 1).item_double();
    }
  }
}
