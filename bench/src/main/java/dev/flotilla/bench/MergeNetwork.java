package dev.flotilla.bench;

import dev.flotilla.data.Batch;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.memory.Tensors;
import dev.flotilla.optim.Momentum;
import dev.flotilla.train.OwnLoop;
import dev.flotilla.train.Trainer;
import dev.flotilla.world.World;
import dev.flotilla.zoo.model.Mlp;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.bytedeco.pytorch.global.torch;

/**
 * Time per micro-batch of windows of 4 against windows of 1 over a slow link, and what the cost
 * model says: compute + (exchange + update) / k.
 *
 * <p>Run it on each host as a rank; {@code bench/two-hosts} does.
 */
public final class MergeNetwork {

  private static final int K = 4;
  private static final int BATCH = 64;
  private static final int WIDTH = 1600;

  private MergeNetwork() {}

  /** Prints measured times and the model's. */
  public static void main(String[] args) {
    int rounds = args.length > 0 ? Integer.parseInt(args[0]) : 11;
    double linkBitsPerSecond = args.length > 1 ? Double.parseDouble(args[1]) : 1e9;
    var world = World.join();
    try (var _ = TensorScope.open();
        var trainer =
            Trainer.on(world)
                .model(new Mlp(WIDTH, List.of(WIDTH, WIDTH, WIDTH), 10))
                .optimizer(new Momentum(0.0001, 0.9))
                .threads(1)
                .build()) {
      var loop = trainer.ownLoop();
      var batch = batch();
      var compute = new double[rounds];
      var single = new double[rounds];
      var merged = new double[rounds];
      for (int round = -2; round < rounds; round++) {
        trainer.collective().barrier();
        double c = millis(() -> passes(loop, batch, K)) / K;
        loop.clear();
        trainer.collective().barrier();
        double one = millis(() -> windows(loop, batch, 1, K)) / K;
        trainer.collective().barrier();
        double four = millis(() -> windows(loop, batch, K, 1)) / K;
        if (round >= 0) {
          compute[round] = c;
          single[round] = one;
          merged[round] = four;
        }
      }
      if (world.isLeader()) {
        long bytes = trainer.model().arena().layout().bytes();
        print(compute, single, merged, bytes, linkBitsPerSecond);
      }
    }
  }

  private static Batch batch() {
    var inputs = Tensors.zeros(torch.ScalarType.Float, BATCH, WIDTH);
    var targets = Tensors.zeros(torch.ScalarType.Long, BATCH);
    return new Batch(List.of(inputs), targets, BATCH);
  }

  private static void passes(OwnLoop loop, Batch batch, int count) {
    for (int i = 0; i < count; i++) {
      loop.forwardBackward(batch);
    }
  }

  private static void windows(OwnLoop loop, Batch batch, int k, int count) {
    for (int i = 0; i < count; i++) {
      passes(loop, batch, k);
      loop.update();
    }
  }

  private static double millis(Runnable body) {
    long start = System.nanoTime();
    body.run();
    return (System.nanoTime() - start) / 1e6;
  }

  private static void print(
      double[] compute, double[] single, double[] merged, long bytes, double bitsPerSecond) {
    var ratios = new double[merged.length];
    for (int i = 0; i < ratios.length; i++) {
      ratios[i] = merged[i] / (compute[i] + (single[i] - compute[i]) / K);
    }
    double wire = bytes * 8 / bitsPerSecond * 1e3;
    System.out.println(
        String.format(
            Locale.ROOT,
            "per micro-batch: compute %.1f ms, k=1 %.1f ms, k=%d %.1f ms (%.2fx); measured /"
                + " formula: median %.3f, quartiles %.3f to %.3f, %d rounds; %.1f MB need %.1f ms"
                + " of wire, exchange and update took %.1f ms",
            median(compute),
            median(single),
            K,
            median(merged),
            median(single) / median(merged),
            median(ratios),
            quartile(ratios, 1),
            quartile(ratios, 3),
            ratios.length,
            bytes / 1e6,
            wire,
            median(single) - median(compute)));
  }

  private static double median(double[] values) {
    return quartile(values, 2);
  }

  private static double quartile(double[] values, int quarter) {
    var sorted = values.clone();
    Arrays.sort(sorted);
    return sorted[(sorted.length - 1) * quarter / 4];
  }
}
