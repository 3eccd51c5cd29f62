package dev.flotilla.bench;

import dev.flotilla.collective.Wire;
import dev.flotilla.data.BatchSource;
import dev.flotilla.data.Dataset;
import dev.flotilla.engine.OutOfMemoryException;
import dev.flotilla.memory.DeviceChoice;
import dev.flotilla.memory.DeviceMemory;
import dev.flotilla.memory.NativeLibraries;
import dev.flotilla.memory.Precision;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.model.Model;
import dev.flotilla.optim.Adam;
import dev.flotilla.optim.AdamW;
import dev.flotilla.optim.Momentum;
import dev.flotilla.optim.Optimizer;
import dev.flotilla.optim.Sgd;
import dev.flotilla.strategy.Strategy;
import dev.flotilla.strategy.fusion.BucketRule;
import dev.flotilla.strategy.fusion.FuseAllReduce;
import dev.flotilla.strategy.norm.PoolOver;
import dev.flotilla.strategy.norm.PooledBatchNorm;
import dev.flotilla.strategy.precision.HalfType;
import dev.flotilla.strategy.precision.MixedPrecision;
import dev.flotilla.strategy.recompute.Recompute;
import dev.flotilla.testkit.ColouredPoints;
import dev.flotilla.testkit.Conformance;
import dev.flotilla.testkit.Ranks;
import dev.flotilla.testkit.Snapshot;
import dev.flotilla.train.CheckpointSettings;
import dev.flotilla.train.Trainer;
import dev.flotilla.world.World;
import dev.flotilla.zoo.data.SyntheticImages;
import dev.flotilla.zoo.data.SyntheticTokens;
import dev.flotilla.zoo.data.TextTask;
import dev.flotilla.zoo.model.BertLarge;
import dev.flotilla.zoo.model.BertTiny;
import dev.flotilla.zoo.model.LeNet5;
import dev.flotilla.zoo.model.Mlp;
import dev.flotilla.zoo.model.ResNet18;
import java.io.IOException;
import java.nio.file.Files;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;
import org.bytedeco.pytorch.global.torch;

/**
 * Runs every technique on a GPU: against the CPU, against the GPU's own baseline, with two ranks on
 * the one GPU, through a checkpoint, and into full memory. Needs one GPU.
 */
final class DeviceCheck {

  private static final ColouredPoints POINTS = new ColouredPoints(480, 8, 4);
  private static final int UPDATES = 15;
  private final DeviceChoice device;
  private int failures;

  private record Setup(
      Model model,
      Dataset data,
      Optimizer optimizer,
      int batch,
      long updates,
      Precision precision) {

    Setup(Model model, Dataset data, Optimizer optimizer, int batch, long updates) {
      this(model, data, optimizer, batch, updates, Precision.FLOAT32);
    }

    Setup inFloat64() {
      return new Setup(model, data, optimizer, batch, updates, Precision.FLOAT64);
    }
  }

  private DeviceCheck(DeviceChoice device) {
    this.device = device;
  }

  /** Runs all checks, prints a line for each, and ends with 1 if one fails. */
  public static void main(String[] args) {
    NativeLibraries.load();
    // Bit for bit equality is promised for kernels that are deterministic.
    torch.globalContext().setDeterministicAlgorithms(true, true);
    var checks = new DeviceCheck(args.length > 0 ? DeviceChoice.parse(args[0]) : DeviceChoice.CUDA);
    if (args.length > 1) {
      checks.repeat(Integer.parseInt(args[1]));
    } else {
      checks.all();
    }
    System.exit(checks.failures == 0 ? 0 : 1);
  }

  private static FuseAllReduce buckets(Wire wire, boolean overlaps) {
    return new FuseAllReduce(1e-4, 50, 0, overlaps, BucketRule.SIZE, wire);
  }

  /** Runs two ranks with buckets again and again, to find what happens seldom. */
  private void repeat(int times) {
    for (var wire : Wire.values()) {
      for (boolean overlaps : new boolean[] {true, false}) {
        var technique = buckets(wire, overlaps);
        var cpu =
            Ranks.of(2).callWorlds(world -> train(DeviceChoice.CPU, world, points(), technique));
        int wrong = 0;
        for (int i = 0; i < times; i++) {
          var gpu = Ranks.of(2).callWorlds(world -> train(device, world, points(), technique));
          boolean isRight =
              gpu.get(0).isSameAs(gpu.get(1)) && gpu.get(0).relativeDistance(cpu.get(0)) < 0.05;
          wrong += isRight ? 0 : 1;
        }
        expect(technique + ", " + times + " times", wrong == 0, wrong + " wrong");
      }
    }
  }

  private void all() {
    check("rows", this::everyRow);
    check("optimizers", this::optimizers);
    check("models", this::models);
    check("two ranks", this::twoRanks);
    check("checkpoint", this::checkpoint);
    if (!device.equals(DeviceChoice.CPU)) {
      check("flat memory", this::flatMemory);
      check("full memory", this::fullMemory);
    }
    System.out.println(failures == 0 ? "all checks passed" : failures + " checks FAILED");
  }

  private void check(String name, Runnable checks) {
    try {
      checks.run();
    } catch (RuntimeException | Error failure) {
      failures++;
      System.out.println("FAILED " + name + ": " + failure);
      failure.printStackTrace(System.out);
    }
  }

  private void expect(String what, boolean holds, String found) {
    failures += holds ? 0 : 1;
    System.out.printf("%-6s %-60s %s%n", holds ? "ok" : "FAILED", what, found);
    System.out.flush();
  }

  private static String number(double value) {
    return String.format(Locale.ROOT, "%.2e", value);
  }

  private static Setup points() {
    return new Setup(new Mlp(8, List.of(16), 4), POINTS, new Momentum(0.1, 0.9), 32, UPDATES);
  }

  private static Snapshot train(DeviceChoice device, World world, Setup setup, Strategy... with) {
    try (var trainer =
        Trainer.on(world)
            .model(setup.model)
            .optimizer(setup.optimizer)
            .strategy(with)
            .device(device)
            .precision(setup.precision)
            .threads(1)
            .build()) {
      run(trainer, world, setup, 0, setup.updates);
      return Snapshot.of(trainer);
    }
  }

  private static void run(Trainer trainer, World world, Setup setup, long from, long updates) {
    var source = BatchSource.global(setup.data, setup.batch).shuffled(7);
    long steps = 0;
    for (int epoch = 0; trainer.updates() < updates; epoch++) {
      var shard = source.epoch(epoch, world.rank(), world.size());
      for (long i = 0; i < shard.batches() && trainer.updates() < updates; i++, steps++) {
        try (var _ = TensorScope.open()) {
          if (steps >= from) {
            trainer.step(shard.load(i), i + 1 == shard.batches());
          }
        }
      }
    }
  }

  private void everyRow() {
    var baseline = train(device, World.solo(), points());
    for (var row : Conformance.rows().toList()) {
      var with = row.techniques().toArray(Strategy[]::new);
      try {
        var cpu = train(DeviceChoice.CPU, World.solo(), points(), with);
        var gpu = train(device, World.solo(), points(), with);
        double distance = gpu.relativeDistance(cpu);
        double allowed = row.rounding() > 1e-3 ? row.rounding() : 1e-4;
        expect(row + ": GPU as CPU", distance < allowed, number(distance));
        if (row.promise() == Conformance.Promise.EXACT) {
          expect(row + ": same bits as GPU baseline", gpu.isSameAs(baseline), "");
        }
      } catch (RuntimeException failure) {
        expect(row + ": runs", false, failure.toString());
        failure.printStackTrace(System.out);
      }
    }
  }

  private void optimizers() {
    for (var optimizer :
        List.of(
            new Sgd(0.1),
            new Sgd(0.1, 0.01),
            new Momentum(0.1, 0.9, true, 0.01),
            new Adam(0.01),
            new AdamW(0.01))) {
      var setup = new Setup(new Mlp(8, List.of(16), 4), POINTS, optimizer, 32, UPDATES);
      double distance =
          train(device, World.solo(), setup)
              .relativeDistance(train(DeviceChoice.CPU, World.solo(), setup));
      expect(optimizer + ": GPU as CPU", distance < 1e-3, number(distance));
    }
  }

  private static Setup bert(double dropout) {
    var model = new BertTiny(null, 20, 1000, 64, 2, 2, 128, 64, dropout, dropout);
    var data = new SyntheticTokens(1000, 64, 64, 8, TextTask.PRETRAINING, 2).train();
    return new Setup(model, data, new AdamW(1e-3), 8, 6);
  }

  private static Setup resnet() {
    var data = new SyntheticImages(3, 32, 10, 64, 8).train();
    return new Setup(ResNet18.forCifar(10), data, new Momentum(0.01, 0.9), 16, 3);
  }

  private void models() {
    // Adam divides rounding by rounding where a gradient is zero, as that of a key's bias is.
    var bert = bert(0);
    var descent = new Setup(bert.model, bert.data, new Momentum(0.01, 0.9), 8, 6);
    compare("bert, float64", descent.inFloat64(), 1e-8);
    compare("lenet5", lenet(), 1e-3);
    compare("resnet18, float64", resnet().inFloat64(), 1e-8);
    compare(
        "resnet18 pooled, float64", resnet().inFloat64(), 1e-8, new PooledBatchNorm(PoolOver.SYNC));
    sameBits("bert with dropout", bert(0.1), Recompute.every(1));
    sameBits("bert with dropout, in a file", bert(0.1), Recompute.every(1).offloaded());
    sameBits("bert with dropout, by plan", bert(0.1), Recompute.auto(8 << 20));
    sameBits("resnet18", resnet(), Recompute.every(1));
    var half = new MixedPrecision(HalfType.BF16);
    var plain = train(device, World.solo(), bert(0.1), half);
    var again = train(device, World.solo(), bert(0.1), half, Recompute.every(1));
    expect("bert, bf16: recompute has the same bits", again.isSameAs(plain), "");
  }

  private static Setup lenet() {
    var data = new SyntheticImages(1, 32, 10, 64, 8).train();
    return new Setup(new LeNet5(10), data, new Momentum(0.01, 0.9), 16, UPDATES);
  }

  private void compare(String name, Setup setup, double allowed, Strategy... with) {
    var gpu = train(device, World.solo(), setup, with);
    var cpu = train(DeviceChoice.CPU, World.solo(), setup, with);
    var worst =
        gpu.values().keySet().stream()
            .max(Comparator.comparingDouble(tensor -> distance(gpu, cpu, tensor)))
            .orElseThrow();
    double distance = distance(gpu, cpu, worst);
    expect(name + ": GPU as CPU", distance < allowed, number(distance) + " in " + worst);
  }

  /** What never moves from zero is not compared with itself: a key's bias has no gradient. */
  private static double distance(Snapshot gpu, Snapshot cpu, String tensor) {
    return gpu.largest(tensor) < 1e-9 ? 0 : gpu.relativeDistance(tensor, cpu);
  }

  private void sameBits(String name, Setup setup, Strategy recompute) {
    var plain = train(device, World.solo(), setup);
    var again = train(device, World.solo(), setup, recompute);
    expect(
        name + ": recompute has the same bits",
        again.isSameAs(plain),
        number(again.relativeDistance(plain)));
  }

  private void twoRanks() {
    for (var row : Conformance.rows().toList()) {
      var with = row.techniques().toArray(Strategy[]::new);
      try {
        var one = train(device, World.solo(), points(), with);
        var two = Ranks.of(2).callWorlds(world -> train(device, world, points(), with));
        double distance = two.getFirst().relativeDistance(one);
        double allowed = row.rounding() > 1e-3 ? row.rounding() : 1e-4;
        expect(row + ": two ranks as one", allowed > 0.1 || distance < allowed, number(distance));
        var onCpu = Ranks.of(2).callWorlds(world -> train(DeviceChoice.CPU, world, points(), with));
        // Between two averages of local SGD ranks differ, and so they must.
        boolean agree = onCpu.get(0).isSameAs(onCpu.get(1));
        expect(
            row + (agree ? ": ranks agree to the bit" : ": ranks differ as on the CPU"),
            two.get(0).isSameAs(two.get(1)) == agree,
            "");
        double toCpu = two.getFirst().relativeDistance(onCpu.getFirst());
        expect(
            row + ": two ranks as on the CPU",
            toCpu < Math.clamp(row.rounding(), 1e-4, 0.05),
            number(toCpu));
      } catch (Exception failure) {
        expect(row + ": two ranks run", false, failure.toString());
        failure.printStackTrace(System.out);
      }
    }
  }

  private void checkpoint() {
    var setup = bert(0.1);
    var whole = train(device, World.solo(), setup);
    try {
      var folder = Files.createTempDirectory("flotilla-device-check");
      try (var trainer = saving(setup, folder)) {
        run(trainer, World.solo(), setup, 0, 3);
        trainer.save();
        trainer.awaitSave();
      }
      try (var trainer = saving(setup, folder)) {
        trainer.resume(folder);
        run(trainer, World.solo(), setup, 3, setup.updates);
        expect("resumed run has the same bits", Snapshot.of(trainer).isSameAs(whole), "");
      }
    } catch (IOException failure) {
      throw new java.io.UncheckedIOException(failure);
    }
  }

  private Trainer saving(Setup setup, java.nio.file.Path folder) {
    return Trainer.on(World.solo())
        .model(setup.model)
        .optimizer(setup.optimizer)
        .device(device)
        .checkpoints(CheckpointSettings.in(folder))
        .build();
  }

  private void flatMemory() {
    for (var with : List.of(new Strategy[0], new Strategy[] {Recompute.every(1)})) {
      try (var trainer =
          Trainer.on(World.solo())
              .model(new LeNet5(10))
              .optimizer(new Momentum(0.01, 0.9))
              .strategy(with)
              .device(device)
              .build()) {
        var memory = new DeviceMemory(trainer.model().device());
        run(trainer, World.solo(), lenet(), 0, 20);
        long live = memory.liveBytes();
        memory.forgetPeak();
        run(trainer, World.solo(), lenet(), 0, 100);
        long peak = memory.peakBytes();
        run(trainer, World.solo(), lenet(), 0, 1100);
        expect(
            "live and peak bytes are flat over 1,000 steps",
            memory.liveBytes() == live && memory.peakBytes() == peak,
            live + " to " + memory.liveBytes() + ", peak " + peak + " to " + memory.peakBytes());
      }
    }
  }

  private void fullMemory() {
    try (var trainer =
        Trainer.on(World.solo())
            .model(new BertLarge(2, 20, 30522, 1024, 4, 16, 4096, 512, 0.1, 0.1))
            .optimizer(new Momentum(0.01, 0.9))
            .device(device)
            .build()) {
      var memory = new DeviceMemory(trainer.model().device());
      var data = new SyntheticTokens(30522, 512, 512, 8, TextTask.CLASSIFICATION, 2).train();
      step(trainer, data, 1);
      memory.limit(4L << 30);
      for (var with : List.of(64, 512)) {
        long before = memory.liveBytes();
        try {
          step(trainer, data, with);
          expect("a batch of " + with + " does not fit", false, "but it did");
        } catch (OutOfMemoryException full) {
          trainer.abandonStep();
          expect("full memory is explained", ("" + full).contains("fit-batch"), "" + full);
        }
        expect(
            "nothing is left behind",
            memory.liveBytes() == before,
            before + " to " + memory.liveBytes());
      }
      step(trainer, data, 1);
      memory.limit(memory.totalBytes());
    }
  }

  private static void step(Trainer trainer, Dataset data, int samples) {
    try (var _ = TensorScope.open()) {
      trainer.step(data.load(IntStream.range(0, samples).toArray()));
    }
  }
}
