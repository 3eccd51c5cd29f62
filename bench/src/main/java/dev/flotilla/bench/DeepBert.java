package dev.flotilla.bench;

import dev.flotilla.memory.ComputeDevice;
import dev.flotilla.memory.DeviceChoice;
import dev.flotilla.memory.DeviceMemory;
import dev.flotilla.memory.NativeLibraries;
import dev.flotilla.memory.Precision;
import dev.flotilla.memory.ProcessMemory;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.optim.Adam;
import dev.flotilla.settings.ByteSize;
import dev.flotilla.strategy.Strategy;
import dev.flotilla.strategy.precision.MixedPrecision;
import dev.flotilla.strategy.recompute.Recompute;
import dev.flotilla.strategy.shard.Offload;
import dev.flotilla.strategy.shard.Placement;
import dev.flotilla.strategy.shard.Sharding;
import dev.flotilla.train.Trainer;
import dev.flotilla.wire.Dtype;
import dev.flotilla.world.World;
import dev.flotilla.zoo.data.SyntheticTokens;
import dev.flotilla.zoo.data.TextTask;
import dev.flotilla.zoo.model.BertLarge;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;

/**
 * Trains a BERT of width 1024 on one GPU with a limit to its memory, to see how deep it may be:
 * sequences of 512 tokens, batch 8, Adam, bf16, every layer recomputed, five updates.
 *
 * <p>{@code DeepBert LAYERS MEMORY plain|optimizer|optimizer+parameters|auto [FP32|BF16]}, the last
 * for the type of sharded parameters
 */
final class DeepBert {

  private static final int LENGTH = 512;
  private static final int BATCH = 8;
  private static final int UPDATES = 5;

  private DeepBert() {}

  /** Prints a line for each update, and memory at the end. */
  public static void main(String[] args) {
    int layers = Integer.parseInt(args[0]);
    NativeLibraries.load();
    var device = ComputeDevice.cuda(0);
    var memory = new DeviceMemory(device);
    device.computeExactly();
    try (var _ = TensorScope.open()) {
      // The allocator of a device takes no limit before it has been used.
      device.zeros(Precision.FLOAT32.scalarType(), 1);
    }
    memory.limit(ByteSize.parse(args[1]).bytes());
    long start = System.nanoTime();
    try (var trainer =
            Trainer.on(World.solo())
                .model(new BertLarge(null, 20, 30522, 1024, layers, 16, 4096, LENGTH, 0.1, 0.1))
                .optimizer(new Adam(1e-5))
                .strategy(
                    techniques(args[2], args.length > 3 ? Dtype.valueOf(args[3]) : Dtype.FP32))
                .device(DeviceChoice.CUDA)
                .build();
        var _ = TensorScope.open()) {
      say("%,d parameters, started in %.1f s", trainer.model().parameterCount(), seconds(start));
      var data = new SyntheticTokens(30522, LENGTH, 64, 1, TextTask.PRETRAINING, 2).train();
      for (int i = 0; i < UPDATES; i++) {
        int first = i * BATCH;
        long begin = System.nanoTime();
        try (var _ = TensorScope.open()) {
          var batch = data.load(IntStream.range(first, first + BATCH).toArray()).on(device);
          var outcome = trainer.step(batch);
          device.synchronize();
          say("update %d: loss %.4f, %.2f s", i + 1, outcome.totals().meanLoss(), seconds(begin));
        }
      }
      say(
          "device peak %.2f GiB (reserved %.2f) of %.2f, host %.1f GiB",
          gib(memory.peakBytes()),
          gib(memory.peakReservedBytes()),
          gib(memory.limitBytes()),
          gib(ProcessMemory.peakResidentBytes()));
    }
  }

  private static Strategy[] techniques(String offload, Dtype parameters) {
    List<Strategy> techniques =
        new ArrayList<>(List.of(new MixedPrecision(Dtype.BF16), Recompute.every(1)));
    var sharding = new Sharding(3).withParameters(parameters);
    switch (offload) {
      case "plain" -> {}
      case "auto" -> techniques.add(sharding.withPlacement(Placement.AUTO));
      default -> techniques.add(sharding.withOffload(Offload.parse(offload)));
    }
    return techniques.toArray(Strategy[]::new);
  }

  private static double seconds(long since) {
    return (System.nanoTime() - since) / 1e9;
  }

  private static double gib(long bytes) {
    return bytes / (double) (1L << 30);
  }

  private static void say(String format, Object... values) {
    System.out.println(String.format(Locale.ROOT, format, values));
    System.out.flush();
  }
}
