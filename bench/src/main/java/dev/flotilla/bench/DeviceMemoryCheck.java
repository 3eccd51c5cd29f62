package dev.flotilla.bench;

import dev.flotilla.data.Dataset;
import dev.flotilla.memory.DeviceChoice;
import dev.flotilla.memory.DeviceMemory;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.optim.Momentum;
import dev.flotilla.pass.OutOfMemoryException;
import dev.flotilla.strategy.Strategy;
import dev.flotilla.strategy.recompute.Recompute;
import dev.flotilla.train.Trainer;
import dev.flotilla.world.World;
import dev.flotilla.zoo.data.SyntheticTokens;
import dev.flotilla.zoo.data.TextTask;
import dev.flotilla.zoo.model.BertLarge;
import java.util.List;
import java.util.stream.IntStream;

/** What becomes of a GPU's memory over many steps, and when it is full. */
record DeviceMemoryCheck(DeviceChoice device, Verdicts verdicts) {

  /** Steps leave nothing behind. */
  void isFlat() {
    for (var with : List.of(new Strategy[0], new Strategy[] {Recompute.every(1)})) {
      var job = DeviceJob.lenet();
      try (var trainer = job.trainer(device, World.solo(), with).build()) {
        var memory = new DeviceMemory(trainer.model().device());
        job.run(trainer, World.solo(), 0, 20);
        long live = memory.liveBytes();
        memory.forgetPeak();
        job.run(trainer, World.solo(), 0, 100);
        long peak = memory.peakBytes();
        job.run(trainer, World.solo(), 0, 1100);
        verdicts.expect(
            "live and peak bytes are flat over 1,000 steps",
            memory.liveBytes() == live && memory.peakBytes() == peak,
            live + " to " + memory.liveBytes() + ", peak " + peak + " to " + memory.peakBytes());
      }
    }
  }

  /** A batch that does not fit is explained, and the next one can be trained. */
  void survivesFullMemory() {
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
