package dev.flotilla.bench;

import com.sun.management.OperatingSystemMXBean;
import dev.flotilla.data.Batch;
import dev.flotilla.data.Dataset;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.model.Model;
import dev.flotilla.optim.Momentum;
import dev.flotilla.train.Trainer;
import dev.flotilla.world.World;
import dev.flotilla.zoo.data.SyntheticImages;
import dev.flotilla.zoo.model.LeNet5;
import dev.flotilla.zoo.model.ResNet18;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.stream.IntStream;

/**
 * Times training steps of LeNet-5 (batch 64) or ResNet-18 for CIFAR (batch 16) on one thread
 * whenever a line comes in, so that {@code bench/python/pairs.py} can let it take turns with its
 * partner {@code bench/python/model_step.py}. Time is that of the processor, of all threads.
 */
final class ModelStep {

  private ModelStep() {}

  /** Takes {@code lenet5} or {@code resnet18}, and the number of steps per line. */
  public static void main(String[] args) throws IOException {
    boolean isLeNet = args[0].equals("lenet5");
    int steps = Integer.parseInt(args[1]);
    Model model = isLeNet ? new LeNet5(10) : ResNet18.forCifar(10);
    Dataset data = new SyntheticImages(isLeNet ? 1 : 3, 32, 10, 64, 1).train();
    try (var trainer =
            Trainer.on(World.solo())
                .model(model)
                .optimizer(new Momentum(0.01, 0.9))
                .threads(1)
                .build();
        var _ = TensorScope.open()) {
      var batch = data.load(IntStream.range(0, isLeNet ? 64 : 16).toArray());
      cpuMillis(trainer, batch, steps);
      System.out.println("ready");
      var lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
      while (lines.readLine() != null) {
        double millis = cpuMillis(trainer, batch, steps);
        System.out.printf(Locale.ROOT, "{\"ms\": %.4f}%n", millis);
      }
    }
  }

  private static double cpuMillis(Trainer trainer, Batch batch, int steps) {
    var system = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    long start = system.getProcessCpuTime();
    for (int i = 0; i < steps; i++) {
      trainer.step(batch);
    }
    return (system.getProcessCpuTime() - start) / 1e6 / steps;
  }
}
