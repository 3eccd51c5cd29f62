package dev.flotilla.bench;

import dev.flotilla.memory.NativeMemory;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.model.Model;
import dev.flotilla.optim.Adam;
import dev.flotilla.strategy.Strategy;
import dev.flotilla.strategy.shard.Sharding;
import dev.flotilla.testkit.RankProcesses;
import dev.flotilla.train.Trainer;
import dev.flotilla.world.World;
import dev.flotilla.zoo.data.SyntheticTokens;
import dev.flotilla.zoo.data.TextTask;
import dev.flotilla.zoo.model.BertBase;
import dev.flotilla.zoo.model.BertTiny;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;

/**
 * Measures what a rank's state of BERT-base takes at the peak of a step, with Adam in float32, for
 * each stage of sharding: bytes of native code per parameter, from processes of their own, less
 * what is left when a small model has been trained and freed. The batch is one short sequence, so
 * that activations are few.
 */
public final class ShardingMemory {

  private static final int LENGTH = 8;

  private ShardingMemory() {}

  /** Takes a number of ranks and stages, 0 for none; a rank takes its stage alone. */
  public static void main(String[] args) throws Exception {
    if (args.length == 1) {
      measure(Integer.parseInt(args[0]));
      return;
    }
    int ranks = Integer.parseInt(args[0]);
    for (int i = 1; i < args.length; i++) {
      try (var processes = RankProcesses.start(ranks, ShardingMemory.class, args[i])) {
        for (var result : processes.await(Duration.ofMinutes(10))) {
          System.out.printf("stage %s, rank %d: %s%n", args[i], result.rank(), result.output());
        }
      }
    }
  }

  private static void measure(int stage) {
    Strategy[] techniques = stage == 0 ? new Strategy[0] : new Strategy[] {new Sharding(stage)};
    // What the JVM and libtorch keep for themselves is there after a small model has been trained.
    var others = new Peak();
    train(World.solo(), new BertTiny(), new Strategy[0], others);
    var all = new Peak();
    var model = new BertBase();
    train(World.join(), model, techniques, all);
    double parameters = model.parameterCount();
    System.out.printf(
        "%.2f bytes per parameter at the peak of a step, %.2f between steps%n",
        (all.bytes.get() - others.left) / parameters, (all.between - others.left) / parameters);
  }

  private static void train(World world, Model model, Strategy[] techniques, Peak peak) {
    var data = new SyntheticTokens(30_522, LENGTH, 1, 1, TextTask.PRETRAINING, 2).train();
    try (var trainer =
            Trainer.on(world)
                .model(model)
                .optimizer(new Adam(1e-4))
                .strategy(techniques)
                .threads(1)
                .timeout(Duration.ofMinutes(5))
                .build();
        var _ = TensorScope.open()) {
      var batch = data.load(IntStream.range(0, 1).toArray());
      trainer.step(batch);
      trainer.step(batch);
      peak.during(() -> trainer.step(batch));
    }
    peak.left = NativeMemory.liveBytes();
  }

  /** The most bytes that native code held while something ran. */
  private static final class Peak {

    private final AtomicLong bytes = new AtomicLong();
    private final AtomicBoolean isOn = new AtomicBoolean(true);
    private long between;
    private long left;

    private void during(Runnable action) {
      between = NativeMemory.liveBytes();
      var sampler = Thread.ofPlatform().daemon().start(this::sample);
      action.run();
      isOn.set(false);
      try {
        sampler.join();
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
    }

    private void sample() {
      while (isOn.get()) {
        bytes.accumulateAndGet(NativeMemory.liveBytes(), Math::max);
        LockSupport.parkNanos(200_000);
      }
    }
  }
}
