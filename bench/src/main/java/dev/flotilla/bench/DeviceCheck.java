package dev.flotilla.bench;

import dev.flotilla.collective.GpuBackend;
import dev.flotilla.memory.DeviceChoice;
import dev.flotilla.memory.NativeLibraries;
import dev.flotilla.optim.Adagrad;
import dev.flotilla.optim.Adam;
import dev.flotilla.optim.AdamW;
import dev.flotilla.optim.Lamb;
import dev.flotilla.optim.Lars;
import dev.flotilla.optim.Lion;
import dev.flotilla.optim.Momentum;
import dev.flotilla.optim.RmsProp;
import dev.flotilla.optim.Sgd;
import dev.flotilla.strategy.Strategy;
import dev.flotilla.strategy.compress.AutoExchange;
import dev.flotilla.strategy.fusion.BucketRule;
import dev.flotilla.strategy.fusion.FuseAllReduce;
import dev.flotilla.strategy.norm.PoolOver;
import dev.flotilla.strategy.norm.PooledBatchNorm;
import dev.flotilla.testkit.Conformance;
import dev.flotilla.testkit.Ranks;
import dev.flotilla.testkit.Snapshot;
import dev.flotilla.train.CheckpointSettings;
import dev.flotilla.train.Trainer;
import dev.flotilla.wire.Dtype;
import dev.flotilla.world.World;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import org.bytedeco.pytorch.global.torch;

/**
 * Runs every technique on a GPU: against the CPU, against the GPU's own baseline, with two ranks on
 * the one GPU, through a checkpoint, and into full memory. Needs one GPU.
 */
final class DeviceCheck {

  private final DeviceChoice device;
  private final Verdicts verdicts = new Verdicts();

  private DeviceCheck(DeviceChoice device) {
    this.device = device;
  }

  /** Runs all checks, prints a line for each, and ends with 1 if one fails. */
  public static void main(String[] args) {
    NativeLibraries.load();
    // Bit for bit equality is promised for kernels that are deterministic.
    torch.globalContext().setDeterministicAlgorithms(true, true);
    var checks = new DeviceCheck(args.length > 0 ? DeviceChoice.parse(args[0]) : DeviceChoice.CUDA);
    if (args.length > 1 && args[1].equals("late")) {
      checks.late();
    } else if (args.length > 1 && args[1].equals("recorded")) {
      checks.recorded();
    } else if (args.length > 1 && args[1].equals("models")) {
      checks.verdicts.check("models", checks::models);
      checks.recompute();
      checks.memory();
    } else if (args.length > 1 && args[1].equals("kernels")) {
      checks.kernels();
    } else if (args.length > 1) {
      checks.repeat(Integer.parseInt(args[1]));
    } else {
      checks.all();
    }
    System.exit(checks.verdicts.failures() == 0 ? 0 : 1);
  }

  private static FuseAllReduce buckets(Dtype wire, boolean overlaps) {
    return new FuseAllReduce(1e-4, 50, 0, overlaps, BucketRule.SIZE, wire);
  }

  /** Runs two ranks with buckets again and again, to find what happens seldom. */
  private void repeat(int times) {
    for (var wire : List.of(Dtype.FP32, Dtype.BF16, Dtype.FP16)) {
      for (boolean overlaps : new boolean[] {true, false}) {
        var technique = buckets(wire, overlaps);
        var cpu =
            Ranks.of(2)
                .callWorlds(world -> DeviceJob.points().train(DeviceChoice.CPU, world, technique));
        int wrong = 0;
        for (int i = 0; i < times; i++) {
          var gpu =
              Ranks.of(2).callWorlds(world -> DeviceJob.points().train(device, world, technique));
          boolean isRight =
              gpu.get(0).isSameAs(gpu.get(1)) && gpu.get(0).relativeDistance(cpu.get(0)) < 0.05;
          wrong += isRight ? 0 : 1;
        }
        verdicts.expect(technique + ", " + times + " times", wrong == 0, wrong + " wrong");
      }
    }
  }

  private void all() {
    verdicts.check("rows", this::everyRow);
    verdicts.check("optimizers", this::optimizers);
    verdicts.check("models", this::models);
    recompute();
    verdicts.check("two ranks", this::twoRanks);
    verdicts.check("exchange: auto", this::autoExchange);
    verdicts.check("checkpoint", this::checkpoint);
    if (!device.equals(DeviceChoice.CPU)) {
      verdicts.check("nccl", this::nccl);
      memory();
      recorded();
      late();
      kernels(); // The last, as the allocator keeps what many elements took.
    }
    System.out.println(
        verdicts.failures() == 0 ? "all checks passed" : verdicts.failures() + " checks FAILED");
  }

  private void kernels() {
    verdicts.check("kernels", () -> KernelCheck.all(verdicts));
  }

  private void recorded() {
    var recorded = new RecordedCheck(device, verdicts);
    verdicts.check("recorded passes", recorded::hasTheSameBits);
    verdicts.check("recorded passes, resumed", recorded::resumes);
    verdicts.check("memory of recorded passes", recorded::isFreed);
    verdicts.check("wrong classes", recorded::refusesClasses);
  }

  private void late() {
    var late = new LateVoteCheck(device, verdicts);
    verdicts.check("updates left out", late::leavesUpdatesOut);
    verdicts.check("stop", late::stops);
    verdicts.check("flat memory without waiting", late::isFlat);
    verdicts.check("attention", late::triesAttention);
  }

  private void everyRow() {
    for (var row : Conformance.rows().toList()) {
      var with = row.techniques().toArray(Strategy[]::new);
      var job = DeviceJob.points(row.optimizer());
      try {
        var cpu = job.train(DeviceChoice.CPU, with);
        var gpu = job.train(device, with);
        double distance = gpu.relativeDistance(cpu);
        double allowed = row.rounding() > 1e-3 ? row.rounding() : 1e-4;
        verdicts.expect(row + ": GPU as CPU", distance < allowed, number(distance));
        if (row.promise() == Conformance.Promise.EXACT) {
          verdicts.expect(row + ": same bits as GPU baseline", gpu.isSameAs(job.train(device)), "");
        }
      } catch (RuntimeException failure) {
        verdicts.expect(row + ": runs", false, failure.toString());
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
            new AdamW(0.01),
            new AdamW(0.01).withAmsgrad(),
            new RmsProp(0.01),
            new Adagrad(0.1),
            new Lamb(0.01),
            new Lars(0.1, 0.01),
            new Lion(0.001))) {
      var job = DeviceJob.points(optimizer);
      double distance = job.train(device).relativeDistance(job.train(DeviceChoice.CPU));
      verdicts.expect(optimizer + ": GPU as CPU", distance < 1e-3, number(distance));
    }
  }

  private void models() {
    // Adam divides rounding by rounding where a gradient is zero, as that of a key's bias is.
    var descent = DeviceJob.bert(0).with(new Momentum(0.01, 0.9));
    compare("bert, float64", descent.inFloat64(), 1e-8);
    compare("lenet5", DeviceJob.lenet(), 1e-3);
    compare("resnet18, float64", DeviceJob.resnet().inFloat64(), 1e-8);
    compare(
        "resnet18 pooled, float64",
        DeviceJob.resnet().inFloat64(),
        1e-8,
        new PooledBatchNorm(PoolOver.SYNC));
  }

  private void recompute() {
    var recompute = new RecomputeCheck(device, verdicts);
    verdicts.check("recompute", recompute::hasTheSameBits);
    if (!device.equals(DeviceChoice.CPU)) {
      verdicts.check("recompute with what a GPU alone keeps", recompute::keeps);
      verdicts.check("recompute with other techniques", recompute::goesWithOthers);
    }
  }

  private void memory() {
    var memory = new DeviceMemoryCheck(device, verdicts);
    verdicts.check("flat memory", memory::isFlat);
    verdicts.check("full memory", memory::survivesFullMemory);
  }

  private void compare(String name, DeviceJob job, double allowed, Strategy... with) {
    var gpu = job.train(device, with);
    var cpu = job.train(DeviceChoice.CPU, with);
    var worst =
        gpu.values().keySet().stream()
            .max(Comparator.comparingDouble(tensor -> distance(gpu, cpu, tensor)))
            .orElseThrow();
    double distance = distance(gpu, cpu, worst);
    verdicts.expect(name + ": GPU as CPU", distance < allowed, number(distance) + " in " + worst);
  }

  /** What never moves from zero is not compared with itself: a key's bias has no gradient. */
  private static double distance(Snapshot gpu, Snapshot cpu, String tensor) {
    return gpu.largest(tensor) < 1e-9 ? 0 : gpu.relativeDistance(tensor, cpu);
  }

  private void twoRanks() {
    // What hangs on the clock is looked at apart.
    for (var row : Conformance.rows().filter(it -> !it.has(Conformance.Trait.TIMED)).toList()) {
      var with = row.techniques().toArray(Strategy[]::new);
      try {
        var job = DeviceJob.points(row.optimizer());
        var one = job.train(device, with);
        var two = Ranks.of(2).callWorlds(world -> job.train(device, world, with));
        double distance = two.getFirst().relativeDistance(one);
        double allowed = row.rounding() > 1e-3 ? row.rounding() : 1e-4;
        verdicts.expect(
            row + ": two ranks as one", allowed > 0.1 || distance < allowed, number(distance));
        var onCpu = Ranks.of(2).callWorlds(world -> job.train(DeviceChoice.CPU, world, with));
        // Between two averages of local SGD ranks differ, and so they must.
        boolean agree = onCpu.get(0).isSameAs(onCpu.get(1));
        verdicts.expect(
            row + (agree ? ": ranks agree to the bit" : ": ranks differ as on the CPU"),
            two.get(0).isSameAs(two.get(1)) == agree,
            "");
        double toCpu = two.getFirst().relativeDistance(onCpu.getFirst());
        verdicts.expect(
            row + ": two ranks as on the CPU",
            toCpu < Math.clamp(row.rounding(), 1e-4, 0.05),
            number(toCpu));
      } catch (Exception failure) {
        verdicts.expect(row + ": two ranks run", false, failure.toString());
        failure.printStackTrace(System.out);
      }
    }
  }

  /** One rank alone, as NCCL does not let two share a GPU: no more than that calls are right. */
  private void nccl() {
    var collectives = new NcclCheck(verdicts);
    collectives.everyOperation();
    for (var row : Conformance.rows().toList()) {
      var with = row.techniques().toArray(Strategy[]::new);
      var plain = DeviceJob.points().train(device, with);
      try (var trainer =
          DeviceJob.points().trainer(device, World.solo(), with).backend(GpuBackend.NCCL).build()) {
        DeviceJob.points().run(trainer, World.solo(), 0, DeviceJob.points().updates());
        trainer.averageParameters();
        verdicts.expect(row + ": same bits over NCCL", Snapshot.of(trainer).isSameAs(plain), "");
      }
    }
    collectives.soak();
  }

  /** What it chooses hangs on the clock; that ranks agree does not. */
  private void autoExchange() {
    var job = DeviceJob.points().until(45);
    try {
      var two = Ranks.of(2).callWorlds(world -> job.train(device, world, new AutoExchange()));
      verdicts.expect(
          "exchange: auto: ranks agree to the bit", two.get(0).isSameAs(two.get(1)), "");
    } catch (Exception failure) {
      verdicts.expect("exchange: auto: two ranks run", false, failure.toString());
      failure.printStackTrace(System.out);
    }
  }

  private void checkpoint() {
    var job = DeviceJob.bert(0.1);
    var whole = job.train(device);
    try {
      var folder = Files.createTempDirectory("flotilla-device-check");
      try (var trainer = saving(job, folder)) {
        job.run(trainer, World.solo(), 0, 3);
        trainer.save();
        trainer.awaitSave();
      }
      try (var trainer = saving(job, folder)) {
        trainer.resume(folder);
        job.run(trainer, World.solo(), 3, job.updates());
        verdicts.expect("resumed run has the same bits", Snapshot.of(trainer).isSameAs(whole), "");
      }
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  private Trainer saving(DeviceJob job, Path folder) {
    return job.trainer(device, World.solo()).checkpoints(CheckpointSettings.in(folder)).build();
  }

  private static String number(double value) {
    return String.format(Locale.ROOT, "%.2e", value);
  }
}
