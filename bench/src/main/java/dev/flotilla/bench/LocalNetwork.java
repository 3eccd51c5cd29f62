package dev.flotilla.bench;

import dev.flotilla.data.Batch;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.memory.Tensors;
import dev.flotilla.optim.Momentum;
import dev.flotilla.strategy.Strategy;
import dev.flotilla.strategy.localsgd.AveragingGroup;
import dev.flotilla.strategy.localsgd.LocalSgd;
import dev.flotilla.strategy.localsgd.MomentumPolicy;
import dev.flotilla.train.Trainer;
import dev.flotilla.wire.Dtype;
import dev.flotilla.world.World;
import dev.flotilla.zoo.model.ResNet18;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import org.bytedeco.pytorch.global.torch;

/**
 * Time per update of ResNet-18 with batches of 4 over a slow link: dense, or averaged every k
 * updates, at once or behind the next round; and what the cost model says: T_c + T_s / k.
 *
 * <p>Run it on each host as a rank; {@code bench/two-hosts LAB 100mbit LocalNetwork 4} does.
 */
public final class LocalNetwork {

  private static final int BATCH = 4;

  private LocalNetwork() {}

  /** Takes {@code dense}, k, or k with {@code behind}; then rounds to measure, and a wire. */
  public static void main(String[] args) {
    boolean isDense = args[0].equals("dense");
    boolean isBehind = args[0].endsWith("behind");
    int k = isDense ? 1 : Integer.parseInt(args[0].replace("behind", ""));
    int rounds = args.length > 1 ? Integer.parseInt(args[1]) : 3;
    var wire = args.length > 2 ? Dtype.valueOf(args[2].toUpperCase(Locale.ROOT)) : Dtype.FP32;
    var technique =
        new LocalSgd(k, 1, MomentumPolicy.LOCAL, wire, isBehind, AveragingGroup.RANK, null);
    var world = World.join();
    try (var _ = TensorScope.open();
        var trainer =
            Trainer.on(world)
                .model(ResNet18.forCifar(10))
                .optimizer(new Momentum(0.0001, 0.9))
                .strategy(isDense ? new Strategy[0] : new Strategy[] {technique})
                .timeout(Duration.ofMinutes(5))
                .threads(1)
                .build()) {
      measure(trainer, args[0], k, rounds, world.isLeader());
    }
  }

  private static void measure(Trainer trainer, String name, int k, int rounds, boolean isLeader) {
    var batch = batch();
    // The first update averages; a round behind is only steady once the one before has arrived.
    steps(trainer, batch, 1 + k);
    List<Double> between = new ArrayList<>();
    List<Double> averaging = new ArrayList<>();
    long start = System.nanoTime();
    for (int round = 0; round < rounds; round++) {
      for (int i = 1; i <= k; i++) {
        (i < k ? between : averaging).add(steps(trainer, batch, 1));
      }
    }
    double perUpdate = (System.nanoTime() - start) / 1e6 / rounds / k;
    if (isLeader) {
      print(name, perUpdate, between, averaging, k);
    }
  }

  private static Batch batch() {
    var inputs = Tensors.zeros(torch.ScalarType.Float, BATCH, 3, 32, 32);
    var targets = Tensors.zeros(torch.ScalarType.Long, BATCH);
    return new Batch(List.of(inputs), targets, BATCH);
  }

  private static double steps(Trainer trainer, Batch batch, int count) {
    long start = System.nanoTime();
    for (int i = 0; i < count; i++) {
      try (var _ = TensorScope.open()) {
        trainer.step(batch);
      }
    }
    return (System.nanoTime() - start) / 1e6;
  }

  private static void print(
      String name, double perUpdate, List<Double> between, List<Double> averaging, int k) {
    double compute = between.isEmpty() ? Double.NaN : median(between);
    double average = median(averaging) - (between.isEmpty() ? 0 : compute);
    System.out.println(
        String.format(
            Locale.ROOT,
            "%s: %.0f ms per update; an update alone %.0f ms, an average %.0f ms on top; T_c +"
                + " T_s / k = %.0f ms",
            name,
            perUpdate,
            compute,
            average,
            (between.isEmpty() ? 0 : compute) + average / k));
  }

  private static double median(List<Double> values) {
    var sorted = new ArrayList<>(values);
    Collections.sort(sorted);
    return sorted.get((sorted.size() - 1) / 2);
  }
}
