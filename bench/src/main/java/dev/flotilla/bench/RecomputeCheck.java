package dev.flotilla.bench;

import dev.flotilla.memory.ComputeDevice;
import dev.flotilla.memory.DeviceChoice;
import dev.flotilla.memory.DeviceMemory;
import dev.flotilla.strategy.Strategy;
import dev.flotilla.strategy.clip.ClipByNorm;
import dev.flotilla.strategy.merge.GradientMerge;
import dev.flotilla.strategy.precision.MixedPrecision;
import dev.flotilla.strategy.recompute.Recompute;
import dev.flotilla.strategy.shard.Sharding;
import dev.flotilla.testkit.Ranks;
import dev.flotilla.testkit.Snapshot;
import dev.flotilla.wire.Dtype;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/** Recompute has the bits of a run that keeps everything, whatever it keeps and goes with. */
record RecomputeCheck(DeviceChoice device, Verdicts verdicts) {

  private static final Strategy HALF = new MixedPrecision(Dtype.BF16);

  /** Enough layers for outputs to leave the device, and for products to be let go. */
  private static final int LAYERS = 8;

  /** All that a GPU can keep instead of computing it again. */
  private static final Recompute EVERYTHING =
      Recompute.every(1).keepingAttention().keepingProducts(1 << 19).offloaded();

  void hasTheSameBits() {
    sameBits("bert with dropout", DeviceJob.bert(0.1), Recompute.every(1));
    sameBits("bert with dropout, by plan", DeviceJob.bert(0.1), Recompute.auto(8 << 20));
    sameBits("resnet18", DeviceJob.resnet(), Recompute.every(1));
    var plain = DeviceJob.bert(0.1).train(device, HALF);
    var again = DeviceJob.bert(0.1).train(device, HALF, Recompute.every(1));
    verdicts.expect("bert, bf16: recompute has the same bits", again.isSameAs(plain), "");
    var once = DeviceJob.bert(0.1).train(device, HALF, Recompute.every(1).keepingAttention());
    verdicts.expect("bert, bf16: attention kept has the same bits", once.isSameAs(plain), "");
  }

  private void sameBits(String name, DeviceJob job, Recompute recompute) {
    var plain = job.train(device);
    var again = job.train(device, recompute);
    verdicts.expect(
        name + ": recompute has the same bits",
        again.isSameAs(plain),
        String.format(Locale.ROOT, "%.2e", again.relativeDistance(plain)));
  }

  void keeps() {
    var deep = DeviceJob.bert(LAYERS, 0.1);
    var each = Recompute.every(1);
    sameBits("bert with dropout, offloaded", deep, each.offloaded());
    sameBits("bert with dropout, offloaded by plan", deep, Recompute.auto(8 << 20).offloaded());
    var plain = deep.train(device, HALF);
    long usual = peak(deep, plain, each);
    long offloaded = peak(deep, plain, each.offloaded());
    long more = peak(deep, plain, each.keepingProducts(1 << 20));
    peak(deep, plain, EVERYTHING);
    verdicts.expect(
        "what is offloaded leaves the GPU", offloaded < usual, offloaded + " of " + usual);
    verdicts.expect("products are kept on the GPU", more > usual, more + " and not " + usual);
  }

  /** Returns the peak of live bytes. */
  private long peak(DeviceJob job, Snapshot plain, Recompute recompute) {
    var memory = new DeviceMemory(ComputeDevice.cuda(0));
    memory.forgetPeak();
    long before = memory.liveBytes();
    boolean isSame = job.train(device, HALF, recompute).isSameAs(plain);
    verdicts.expect("bert, bf16, " + recompute + ": same bits", isSame, "");
    return memory.peakBytes() - before;
  }

  /** What is kept and moved away, on one rank and on two that share the GPU. */
  void goesWithOthers() {
    var deep = DeviceJob.bert(LAYERS, 0.1);
    for (var others :
        List.of(
            List.of(HALF, new GradientMerge(2)),
            List.of(HALF, new ClipByNorm(0.5)),
            List.<Strategy>of(new MixedPrecision(Dtype.FP16)))) {
      var plain = deep.train(device, others.toArray(Strategy[]::new));
      var again = deep.train(device, with(others));
      verdicts.expect(others + ": recompute has the same bits", again.isSameAs(plain), "");
    }
    // Ranks in one process share the generator that attention draws from.
    var certain = DeviceJob.bert(LAYERS, 0);
    for (var others :
        List.of(
            List.of(HALF),
            List.of(HALF, new GradientMerge(2)),
            List.of(HALF, new Sharding(1)),
            List.of(HALF, new Sharding(3)))) {
      var techniques = others.toArray(Strategy[]::new);
      var plain = Ranks.of(2).callWorlds(world -> certain.train(device, world, techniques));
      var again = Ranks.of(2).callWorlds(world -> certain.train(device, world, with(others)));
      verdicts.expect(
          others + ", two ranks: recompute has the same bits",
          again.get(0).isSameAs(plain.get(0)) && again.get(1).isSameAs(plain.get(0)),
          "");
    }
  }

  private static Strategy[] with(List<Strategy> others) {
    return Stream.concat(others.stream(), Stream.of(EVERYTHING)).toArray(Strategy[]::new);
  }
}
