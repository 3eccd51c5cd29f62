package dev.flotilla.bench;

import dev.flotilla.data.Batch;
import dev.flotilla.data.Dataset;
import dev.flotilla.memory.ComputeDevice;
import dev.flotilla.memory.DeviceChoice;
import dev.flotilla.memory.DeviceMark;
import dev.flotilla.memory.DeviceMemory;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.model.Model;
import dev.flotilla.optim.AdamW;
import dev.flotilla.optim.Momentum;
import dev.flotilla.optim.Optimizer;
import dev.flotilla.report.TrainingEvent;
import dev.flotilla.settings.ByteSize;
import dev.flotilla.strategy.Strategy;
import dev.flotilla.strategy.precision.MixedPrecision;
import dev.flotilla.strategy.recompute.Recompute;
import dev.flotilla.train.Every;
import dev.flotilla.train.Trainer;
import dev.flotilla.wire.Dtype;
import dev.flotilla.world.World;
import dev.flotilla.zoo.data.SyntheticImages;
import dev.flotilla.zoo.data.SyntheticTokens;
import dev.flotilla.zoo.data.TextTask;
import dev.flotilla.zoo.model.BertLarge;
import dev.flotilla.zoo.model.LeNet5;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Times training steps on a GPU whenever a line comes in, so that {@code bench/python/pairs.py} can
 * let it take turns with its partner {@code bench/python/device_step.py}.
 *
 * <p>{@code DeviceStep lenet5|encoder|bert-large BATCH STEPS [bf16] [recompute|plan=20GiB|keep=N]
 * [attention] [products=8GiB] [offload] [memory=32GiB] [unlogged]}: {@code keep} recomputes all
 * layers but the last N, {@code attention} keeps what attention gives, {@code products} what
 * products give, {@code offload} moves outputs to main memory, {@code unlogged} leaves out what is
 * otherwise logged every tenth update
 *
 * <p>Says the milliseconds of a step, until the last one was handed over to the GPU, and the host's
 * own: what it takes to hand one over without the time that it waits for what the GPU has found;
 * and how often the allocator has had to wait for the GPU to find room.
 */
final class DeviceStep {

  private static final int LENGTH = 512;
  private static final int LAYERS = 24;

  /** Steps until passes are recorded, if they are. */
  private static final int RECORDED = 7;

  private static final Every.Updates SELDOM = Every.updates(1_000_000);

  private DeviceStep() {}

  /** A trainer with a batch that it trains on again and again. */
  record Subject(Trainer trainer, TensorScope scope, Batch batch) implements AutoCloseable {

    ComputeDevice device() {
      return trainer.model().device();
    }

    void run(int steps) {
      for (int i = 0; i < steps; i++) {
        trainer.step(batch);
      }
    }

    @Override
    public void close() {
      scope.close();
      trainer.close();
    }
  }

  /** Makes what the arguments ask for. */
  static Subject subject(String... args) {
    var options = List.of(args).subList(3, args.length);
    int samples = Integer.parseInt(args[1]);
    var trainer =
        Trainer.on(World.solo())
            .model(model(args[0]))
            .optimizer(optimizer(args[0]))
            .strategy(techniques(options))
            .device(options.contains("cpu") ? DeviceChoice.CPU : DeviceChoice.CUDA)
            .events(DeviceStep::show)
            .loop(loop -> options.contains("unlogged") ? loop.logEach(SELDOM) : loop)
            .build();
    var device = trainer.model().device();
    limit(device, options);
    var scope = TensorScope.open();
    var batch = data(args[0]).load(IntStream.range(0, samples).toArray()).on(device);
    return new Subject(trainer, scope, batch);
  }

  /** Warms up, says ready, and answers each line with a line of JSON. */
  public static void main(String[] args) throws IOException {
    int samples = Integer.parseInt(args[1]);
    int steps = Integer.parseInt(args[2]);
    try (var subject = subject(args)) {
      var device = subject.device();
      subject.run(Math.max(RECORDED, steps / 2));
      device.synchronize();
      say("ready");
      var lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
      while (lines.readLine() != null) {
        long waited = DeviceMark.waitedNanos();
        long start = System.nanoTime();
        subject.run(steps);
        long launched = System.nanoTime() - start;
        long host = launched - (DeviceMark.waitedNanos() - waited);
        device.synchronize();
        report(samples, steps, System.nanoTime() - start, launched, host, device);
      }
      System.err.println("recorded: " + subject.trainer().metrics().get("recorded"));
    }
  }

  private static void report(
      int samples, int steps, long nanos, long launched, long host, ComputeDevice device) {
    var memory = new DeviceMemory(device);
    say(
        String.format(
            Locale.ROOT,
            "{\"ms\": %.4f, \"launch_ms\": %.4f, \"host_ms\": %.4f, \"per_s\": %.2f, \"peak_gib\":"
                + " %.3f, \"reserved_gib\": %.3f, \"retries\": %d}",
            nanos / 1e6 / steps,
            launched / 1e6 / steps,
            host / 1e6 / steps,
            samples * steps / (nanos / 1e9),
            memory.peakBytes() / (double) (1L << 30),
            memory.peakReservedBytes() / (double) (1L << 30),
            memory.retries()));
  }

  /** Shows the plan that recompute has made. */
  private static void show(TrainingEvent event) {
    if (event instanceof TrainingEvent.Measured measured) {
      System.err.println(measured.text());
    }
  }

  private static void say(String line) {
    System.out.println(line);
    System.out.flush();
  }

  private static void limit(ComputeDevice device, List<String> options) {
    options.stream()
        .filter(option -> option.startsWith("memory="))
        .map(option -> ByteSize.parse(option.substring("memory=".length())))
        .forEach(size -> new DeviceMemory(device).limit(size.bytes()));
  }

  private static Model model(String name) {
    return switch (name) {
      case "lenet5" -> new LeNet5(10);
      case "encoder" -> new BertLarge(2, 20, 30522, 1024, 24, 16, 4096, LENGTH, 0.1, 0.1);
      case "bert-large" -> new BertLarge();
      default -> throw new IllegalArgumentException("no model " + name);
    };
  }

  private static Optimizer optimizer(String name) {
    return name.equals("lenet5") ? new Momentum(0.01, 0.9) : new AdamW(1e-5);
  }

  private static Dataset data(String name) {
    return switch (name) {
      case "lenet5" -> new SyntheticImages(1, 32, 10, 64, 1).train();
      case "encoder" -> tokens(TextTask.CLASSIFICATION);
      default -> tokens(TextTask.PRETRAINING);
    };
  }

  private static Dataset tokens(TextTask task) {
    return new SyntheticTokens(30522, LENGTH, 2048, 1, task, 2).train();
  }

  private static Strategy[] techniques(List<String> options) {
    List<Strategy> techniques = new ArrayList<>();
    if (options.contains("bf16")) {
      techniques.add(new MixedPrecision(Dtype.BF16));
    }
    if (options.contains("recompute")) {
      techniques.add(with(options, Recompute.every(1)));
    }
    options.stream()
        .filter(option -> option.startsWith("keep="))
        .mapToInt(option -> Integer.parseInt(option.substring("keep=".length())))
        .mapToObj(kept -> new Recompute(layersBefore(LAYERS - kept)))
        .forEach(recompute -> techniques.add(with(options, recompute)));
    options.stream()
        .filter(option -> option.startsWith("plan="))
        .map(option -> ByteSize.parse(option.substring("plan=".length())))
        .forEach(size -> techniques.add(with(options, Recompute.auto(size.bytes()))));
    return techniques.toArray(Strategy[]::new);
  }

  private static Recompute with(List<String> options, Recompute recompute) {
    var all = options.contains("attention") ? recompute.keepingAttention() : recompute;
    for (var option : options) {
      if (option.startsWith("products=")) {
        all = all.keepingProducts(ByteSize.parse(option.substring("products=".length())).bytes());
      }
    }
    return options.contains("offload") ? all.offloaded() : all;
  }

  private static String[] layersBefore(int end) {
    return Stream.concat(
            Stream.of("embeddings"), IntStream.range(0, end).mapToObj(layer -> "layer." + layer))
        .toArray(String[]::new);
  }
}
