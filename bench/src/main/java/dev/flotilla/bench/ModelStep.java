package dev.flotilla.bench;

import com.sun.management.OperatingSystemMXBean;
import dev.flotilla.data.Batch;
import dev.flotilla.data.Dataset;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.model.Model;
import dev.flotilla.optim.AdamW;
import dev.flotilla.optim.Momentum;
import dev.flotilla.optim.Optimizer;
import dev.flotilla.train.Trainer;
import dev.flotilla.world.World;
import dev.flotilla.zoo.data.SyntheticImages;
import dev.flotilla.zoo.data.SyntheticTokens;
import dev.flotilla.zoo.data.TextTask;
import dev.flotilla.zoo.model.BertTiny;
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
 * Times training steps on a CPU whenever a line comes in, so that {@code bench/python/pairs.py} can
 * let it take turns with its partner {@code bench/python/model_step.py}; says the milliseconds of a
 * step on the clock and of the processor.
 */
final class ModelStep {

  private ModelStep() {}

  private record Task(Model model, Optimizer optimizer, Dataset data, int batch) {

    static Task of(String name) {
      return switch (name) {
        case "lenet5" -> images(new LeNet5(10), 1, 64);
        case "resnet18" -> images(ResNet18.forCifar(10), 3, 16);
        case "encoder" -> encoder(8192, 512, 6, 8, 2048, 128, 8);
        case "bert-tiny" -> encoder(8192, 128, 2, 2, 512, 128, 8);
        case "encoder24" -> encoder(30522, 1024, 24, 16, 4096, 512, 2);
        default -> throw new IllegalArgumentException("no such model: " + name);
      };
    }

    private static Task images(Model model, int channels, int batch) {
      var data = new SyntheticImages(channels, 32, 10, 64, 1).train();
      return new Task(model, new Momentum(0.01, 0.9), data, batch);
    }

    private static Task encoder(
        int vocabulary, int width, int layers, int heads, int inner, int length, int batch) {
      return new Task(
          new BertTiny(null, 19, vocabulary, width, layers, heads, inner, length, 0.1, 0.1),
          new AdamW(1e-5),
          new SyntheticTokens(vocabulary, length, batch, 1, TextTask.PRETRAINING, 2).train(),
          batch);
    }
  }

  /** Takes a model, the number of steps per line, and the number of threads (1). */
  public static void main(String[] args) throws IOException {
    var task = Task.of(args[0]);
    int steps = Integer.parseInt(args[1]);
    int threads = args.length > 2 ? Integer.parseInt(args[2]) : 1;
    try (var trainer =
            Trainer.on(World.solo())
                .model(task.model())
                .optimizer(task.optimizer())
                .threads(threads)
                .build();
        var _ = TensorScope.open()) {
      var batch = task.data().load(IntStream.range(0, task.batch()).toArray());
      time(trainer, batch, steps);
      System.out.println("ready");
      var lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
      while (lines.readLine() != null) {
        System.out.println(time(trainer, batch, steps));
      }
    }
  }

  private static String time(Trainer trainer, Batch batch, int steps) {
    var system = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    long cpu = system.getProcessCpuTime();
    long wall = System.nanoTime();
    for (int i = 0; i < steps; i++) {
      trainer.step(batch);
    }
    return String.format(
        Locale.ROOT,
        "{\"ms\": %.4f, \"cpu_ms\": %.4f}",
        (System.nanoTime() - wall) / 1e6 / steps,
        (system.getProcessCpuTime() - cpu) / 1e6 / steps);
  }
}
