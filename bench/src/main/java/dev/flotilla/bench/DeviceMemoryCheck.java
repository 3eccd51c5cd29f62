package dev.flotilla.bench;

import dev.flotilla.data.Dataset;
import dev.flotilla.memory.DeviceChoice;
import dev.flotilla.memory.DeviceMemory;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.optim.Momentum;
import dev.flotilla.pass.OutOfMemoryException;
import dev.flotilla.strategy.Strategy;
import dev.flotilla.strategy.precision.MixedPrecision;
import dev.flotilla.strategy.recompute.Recompute;
import dev.flotilla.train.Trainer;
import dev.flotilla.wire.Dtype;
import dev.flotilla.world.World;
import dev.flotilla.zoo.data.SyntheticTokens;
import dev.flotilla.zoo.data.TextTask;
import dev.flotilla.zoo.model.BertLarge;
import java.util.List;
import java.util.stream.IntStream;

/** What becomes of a GPU's memory over many steps, and when it is full. */
record DeviceMemoryCheck(DeviceChoice device, Verdicts verdicts) {

  /** Recompute with all that it can keep elsewhere. */
  private static Strategy[] thrifty() {
    var recompute = Recompute.every(1).keepingAttention().keepingProducts(1 << 19).offloaded();
    return new Strategy[] {new MixedPrecision(Dtype.BF16), recompute};
  }

  /** Steps leave nothing behind. */
  void isFlat() {
    isFlat(DeviceJob.lenet(), 1100);
    isFlat(DeviceJob.lenet(), 1100, Recompute.every(1));
    isFlat(DeviceJob.bert(8, 0.1), 400, thrifty());
  }

  private void isFlat(DeviceJob job, long last, Strategy... with) {
    try (var trainer = job.trainer(device, World.solo(), with).build()) {
      var memory = new DeviceMemory(trainer.model().device());
      job.run(trainer, World.solo(), 0, 20);
      long live = memory.liveBytes();
      memory.forgetPeak();
      job.run(trainer, World.solo(), 0, 100);
      long peak = memory.peakBytes();
      job.run(trainer, World.solo(), 0, last);
      verdicts.expect(
          "live and peak bytes are flat over %d steps".formatted(last - 100),
          memory.liveBytes() == live && memory.peakBytes() == peak,
          live + " to " + memory.liveBytes() + ", peak " + peak + " to " + memory.peakBytes());
    }
  }

  /** A batch that does not fit is explained, and the next one can be trained. */
  void survivesFullMemory() {
    survivesFullMemory(List.of(64, 512));
    survivesFullMemory(List.of(512), thrifty());
  }

  private void survivesFullMemory(List<Integer> batches, Strategy... techniques) {
    try (var trainer =
        Trainer.on(World.solo())
            .model(new BertLarge(2, 20, 30522, 1024, 4, 16, 4096, 512, 0.1, 0.1))
            .optimizer(new Momentum(0.01, 0.9))
            .strategy(techniques)
            .device(device)
            .build()) {
      var memory = new DeviceMemory(trainer.model().device());
      var data = new SyntheticTokens(30522, 512, 512, 8, TextTask.CLASSIFICATION, 2).train();
      step(trainer, data, 1);
      step(trainer, data, 1);
      memory.limit(4L << 30);
      for (var with : batches) {
        long before = memory.liveBytes();
        try {
          step(trainer, data, with);
          verdicts.expect("a batch of " + with + " does not fit", false, "but it did");
        } catch (OutOfMemoryException full) {
          trainer.abandonStep();
          verdicts.expect("full memory is explained", ("" + full).contains("fit-batch"), "" + full);
        }
        verdicts.expect(
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
