package dev.flotilla.bench;

import dev.flotilla.data.BatchSource;
import dev.flotilla.data.Dataset;
import dev.flotilla.memory.DeviceChoice;
import dev.flotilla.memory.Precision;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.model.Model;
import dev.flotilla.optim.AdamW;
import dev.flotilla.optim.Momentum;
import dev.flotilla.optim.Optimizer;
import dev.flotilla.strategy.Strategy;
import dev.flotilla.testkit.ColouredPoints;
import dev.flotilla.testkit.Snapshot;
import dev.flotilla.train.Trainer;
import dev.flotilla.train.TrainerBuilder;
import dev.flotilla.world.World;
import dev.flotilla.zoo.data.SyntheticImages;
import dev.flotilla.zoo.data.SyntheticTokens;
import dev.flotilla.zoo.data.TextTask;
import dev.flotilla.zoo.model.BertTiny;
import dev.flotilla.zoo.model.LeNet5;
import dev.flotilla.zoo.model.Mlp;
import dev.flotilla.zoo.model.ResNet18;
import java.util.List;

/**
 * What is trained to see whether a GPU computes what a CPU does: small, and the same each time.
 *
 * @param updates updates of a whole training
 */
record DeviceJob(
    Model model, Dataset data, Optimizer optimizer, int batch, long updates, Precision precision) {

  private static final ColouredPoints POINTS = new ColouredPoints(480, 8, 4);
  private static final int UPDATES = 15;

  private DeviceJob(Model model, Dataset data, Optimizer optimizer, int batch, long updates) {
    this(model, data, optimizer, batch, updates, Precision.FLOAT32);
  }

  static DeviceJob points() {
    return points(new Momentum(0.1, 0.9));
  }

  static DeviceJob points(Optimizer optimizer) {
    return new DeviceJob(new Mlp(8, List.of(16), 4), POINTS, optimizer, 32, UPDATES);
  }

  static DeviceJob bert(double dropout) {
    return bert(2, dropout);
  }

  static DeviceJob bert(int layers, double dropout) {
    var model = new BertTiny(null, 20, 1000, 64, layers, 2, 128, 64, dropout, dropout);
    var data = new SyntheticTokens(1000, 64, 64, 8, TextTask.PRETRAINING, 2).train();
    return new DeviceJob(model, data, new AdamW(1e-3), 8, 6);
  }

  static DeviceJob resnet() {
    var data = new SyntheticImages(3, 32, 10, 64, 8).train();
    return new DeviceJob(ResNet18.forCifar(10), data, new Momentum(0.01, 0.9), 16, 3);
  }

  static DeviceJob lenet() {
    var data = new SyntheticImages(1, 32, 10, 64, 8).train();
    return new DeviceJob(new LeNet5(10), data, new Momentum(0.01, 0.9), 16, UPDATES);
  }

  DeviceJob with(Optimizer other) {
    return new DeviceJob(model, data, other, batch, updates, precision);
  }

  DeviceJob until(long other) {
    return new DeviceJob(model, data, optimizer, batch, other, precision);
  }

  DeviceJob inFloat64() {
    return new DeviceJob(model, data, optimizer, batch, updates, Precision.FLOAT64);
  }

  TrainerBuilder trainer(DeviceChoice device, World world, Strategy... techniques) {
    return Trainer.on(world)
        .model(model)
        .optimizer(optimizer)
        .strategy(techniques)
        .device(device)
        .precision(precision)
        .threads(1);
  }

  /** Trains from the beginning to the end. */
  Snapshot train(DeviceChoice device, World world, Strategy... techniques) {
    try (var trainer = trainer(device, world, techniques).build()) {
      run(trainer, world, 0, updates);
      trainer.averageParameters();
      return Snapshot.of(trainer);
    }
  }

  /** Trains one process from the beginning to the end. */
  Snapshot train(DeviceChoice device, Strategy... techniques) {
    return train(device, World.solo(), techniques);
  }

  /** Trains until so many updates are made, leaving out the first micro-steps of the data. */
  void run(Trainer trainer, World world, long from, long until) {
    var source = BatchSource.global(data, batch).shuffled(7);
    long steps = 0;
    for (int epoch = 0; trainer.updates() < until; epoch++) {
      var shard = source.epoch(epoch, world.rank(), world.size());
      for (long i = 0; i < shard.batches() && trainer.updates() < until; i++, steps++) {
        try (var _ = TensorScope.open()) {
          if (steps >= from) {
            trainer.step(shard.load(i), i + 1 == shard.batches());
          }
        }
      }
    }
  }
}
