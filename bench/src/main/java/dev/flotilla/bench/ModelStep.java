package dev.flotilla.bench;

import com.sun.management.OperatingSystemMXBean;
import dev.flotilla.data.Dataset;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.model.Model;
import dev.flotilla.optim.Momentum;
import dev.flotilla.train.Trainer;
import dev.flotilla.world.World;
import dev.flotilla.zoo.data.SyntheticImages;
import dev.flotilla.zoo.model.LeNet5;
import dev.flotilla.zoo.model.ResNet18;
import java.lang.management.ManagementFactory;
import java.util.Locale;
import java.util.stream.IntStream;

/**
 * Times a training step of LeNet-5 (batch 64) or ResNet-18 for CIFAR (batch 16) on one thread; its
 * partner in Python is {@code bench/python/model_step.py}.
 */
final class ModelStep {

  private ModelStep() {}

  /** Takes {@code lenet5} or {@code resnet18}, and the number of steps. */
  public static void main(String[] args) {
    boolean isLeNet = args[0].equals("lenet5");
    int steps = Integer.parseInt(args[1]);
    Model model = isLeNet ? new LeNet5(10) : ResNet18.forCifar(10);
    Dataset data = new SyntheticImages(isLeNet ? 1 : 3, 32, 10, 64, 1).train();
    double milliseconds = time(model, data, isLeNet ? 64 : 16, steps);
    System.out.printf(
        Locale.ROOT, "{\"model\": \"%s\", \"cpu_ms\": %.2f}%n", args[0], milliseconds);
  }

  private static double time(Model model, Dataset data, int samples, int steps) {
    var system = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    try (var trainer =
            Trainer.on(World.solo())
                .model(model)
                .optimizer(new Momentum(0.01, 0.9))
                .threads(1)
                .build();
        var _ = TensorScope.open()) {
      var batch = data.load(IntStream.range(0, samples).toArray());
      for (int i = 0; i < steps / 3 + 2; i++) {
        trainer.step(batch);
      }
      long start = system.getProcessCpuTime();
      for (int i = 0; i < steps; i++) {
        trainer.step(batch);
      }
      return (system.getProcessCpuTime() - start) / 1e6 / steps;
    }
  }
}
