package dev.flotilla.bench;

import dev.flotilla.memory.ProcessMemory;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.optim.Momentum;
import dev.flotilla.strategy.Strategy;
import dev.flotilla.strategy.merge.GradientMerge;
import dev.flotilla.strategy.precision.MixedPrecision;
import dev.flotilla.strategy.recompute.Recompute;
import dev.flotilla.testkit.LeakProbe;
import dev.flotilla.train.Trainer;
import dev.flotilla.wire.Dtype;
import dev.flotilla.world.World;
import dev.flotilla.zoo.data.Digits;
import dev.flotilla.zoo.model.LeNet5;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Memory of LeNet-5 training from update 1,000 to 10,000: native live bytes and resident size.
 *
 * <p>{@code bench/run Soak [UPDATES [K [TECHNIQUE…]]]}, K micro-batches merged into each update,
 * with recompute, offload, bf16 or fp16 on top; fixes and pre-touches the heap and keeps one malloc
 * arena.
 */
public final class Soak {

  private static final int WINDOW = 200;

  private Soak() {}

  /** Prints both, every 1,000 updates, and exits with 1 where they grow. */
  public static void main(String[] args) {
    int updates = args.length > 0 ? Integer.parseInt(args[0]) : 10_000;
    int k = args.length > 1 ? Integer.parseInt(args[1]) : 1;
    var start = new Sample();
    var end = new Sample();
    try (var trainer =
        Trainer.on(World.solo())
            .model(new LeNet5(10))
            .optimizer(new Momentum(0.01, 0.9))
            .strategy(techniques(k, args))
            .threads(1)
            .build()) {
      var source = new Digits().train().batches(64 / k).shuffled(1);
      int update = 0;
      for (int epoch = 0; update < updates; epoch++) {
        var shard = source.epoch(epoch, 0, 1);
        for (long i = 0; i < shard.batches() && update < updates; i++) {
          try (var _ = TensorScope.open()) {
            if (!trainer.step(shard.load(i)).updated()) {
              continue;
            }
          }
          update++;
          if (update % 1000 == 0) {
            print(update);
          }
          // Every update is sampled, so that the sampling itself changes nothing on the way.
          (update <= 1000 ? start : end).take(update % WINDOW == 1);
        }
      }
    }
    double liveGrowth = (end.live - start.live) / 1e6;
    double residentGrowth = 100.0 * (end.resident - start.resident) / start.resident;
    System.out.printf(
        Locale.ROOT,
        "from update 1,000 to %,d: native live bytes %+.3f MB, resident size %+.2f %%%n",
        updates,
        liveGrowth,
        residentGrowth);
    System.exit(Math.abs(liveGrowth) <= 1 && residentGrowth <= 1 ? 0 : 1);
  }

  private static Strategy[] techniques(int k, String... args) {
    List<Strategy> techniques = new ArrayList<>(List.of(new GradientMerge(k)));
    for (int i = 2; i < args.length; i++) {
      techniques.add(
          switch (args[i]) {
            case "recompute" -> Recompute.every(1);
            case "offload" -> Recompute.every(1).offloaded();
            case "bf16" -> new MixedPrecision(Dtype.BF16);
            case "fp16" -> new MixedPrecision(Dtype.FP16);
            default -> throw new IllegalArgumentException("no technique " + args[i]);
          });
    }
    return techniques.toArray(Strategy[]::new);
  }

  /**
   * The last resident size, and the smallest of several readings of live bytes: the JVM's compilers
   * borrow a few megabytes now and then.
   */
  private static final class Sample {

    private long live = Long.MAX_VALUE;
    private long resident;

    /** Takes a reading; the first of a stretch forgets the earlier ones. */
    void take(boolean isFirst) {
      live = Math.min(isFirst ? Long.MAX_VALUE : live, LeakProbe.liveBytes());
      resident = ProcessMemory.residentBytes();
    }
  }

  private static void print(int update) {
    System.out.printf(
        Locale.ROOT,
        "update %,6d: live %.3f MB, resident %.1f MB%n",
        update,
        LeakProbe.liveBytes() / 1e6,
        ProcessMemory.residentBytes() / 1e6);
  }
}
