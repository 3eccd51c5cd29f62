package dev.flotilla.app;

import dev.flotilla.data.Batch;
import dev.flotilla.data.Dataset;
import dev.flotilla.memory.CpuThreads;
import dev.flotilla.memory.DeviceChoice;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.model.Model;
import dev.flotilla.optim.Momentum;
import dev.flotilla.train.Trainer;
import dev.flotilla.world.ExitCodes;
import dev.flotilla.world.World;
import dev.flotilla.zoo.data.SyntheticImages;
import dev.flotilla.zoo.data.SyntheticTokens;
import dev.flotilla.zoo.data.TextTask;
import dev.flotilla.zoo.model.BertTiny;
import dev.flotilla.zoo.model.LeNet5;
import dev.flotilla.zoo.model.ResNet18;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.stream.IntStream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Measures how well training steps use the cores of this machine's CPU. */
@Command(
    name = "threads",
    description = "Times steps of three models with 1, 2, 4 ... threads, in about a minute.",
    footer = {"", "Example:", "  flotilla bench threads"},
    mixinStandardHelpOptions = true)
final class BenchThreadsCommand implements Callable<Integer> {

  private static final int LEAST_STEPS = 2;

  @Option(
      names = "--threads",
      paramLabel = "N",
      split = ",",
      description = "Numbers of threads to try; by default 1, 2, 4 ... and all cores.")
  List<Integer> threads = new ArrayList<>();

  @Option(
      names = "--seconds",
      paramLabel = "S",
      description = "Seconds for each model and number of threads (default: 2).")
  double seconds = 2;

  private record Task(String name, Model model, Dataset data, int batch) {}

  @Override
  public Integer call() {
    var numbers = threads.isEmpty() ? upTo(CpuThreads.coresHere()) : threads;
    numbers.forEach(number -> CpuThreads.check(number).orThrow());
    Unpacking.ensureDone();
    var machine = new CpuThreads(numbers.getLast(), 1, CpuThreads.coresHere());
    System.out.println("threads: " + machine.describe(System.getenv()));
    System.out.printf(
        Locale.ROOT,
        "%-22s %8s %12s %12s %11s%n",
        "",
        "threads",
        "ms a step",
        "samples/s",
        "efficiency");
    for (var task : tasks()) {
      double one = 0;
      for (int number : numbers) {
        double millis = millisPerStep(task, number);
        one = one == 0 ? millis * number : one;
        System.out.printf(
            Locale.ROOT,
            "%-22s %8d %12.2f %12.1f %10.0f%%%n",
            task.name(),
            number,
            millis,
            task.batch() * 1e3 / millis,
            100 * one / (number * millis));
      }
    }
    return ExitCodes.OK;
  }

  private static List<Integer> upTo(int cores) {
    List<Integer> numbers = new ArrayList<>();
    for (int number = 1; number < cores; number *= 2) {
      numbers.add(number);
    }
    numbers.add(cores);
    return numbers;
  }

  private static List<Task> tasks() {
    return List.of(
        new Task("LeNet-5, 64", new LeNet5(10), images(1), 64),
        new Task("ResNet-18, 16", ResNet18.forCifar(10), images(3), 16),
        new Task(
            "2-layer encoder, 8x128",
            new BertTiny(null, 19, 8192, 128, 2, 2, 512, 128, 0.1, 0.1),
            new SyntheticTokens(8192, 128, 8, 1, TextTask.PRETRAINING, 2).train(),
            8));
  }

  private static Dataset images(int channels) {
    return new SyntheticImages(channels, 32, 10, 64, 1).train();
  }

  private double millisPerStep(Task task, int number) {
    try (var trainer =
            Trainer.on(World.solo())
                .model(task.model())
                .optimizer(new Momentum(0.001, 0.9))
                .device(DeviceChoice.CPU)
                .threads(number)
                .build();
        var _ = TensorScope.open()) {
      var batch = task.data().load(IntStream.range(0, task.batch()).toArray());
      time(trainer, batch, seconds / 4);
      return time(trainer, batch, seconds);
    }
  }

  private static double time(Trainer trainer, Batch batch, double seconds) {
    long start = System.nanoTime();
    int steps = 0;
    while (steps < LEAST_STEPS || System.nanoTime() - start < seconds * 1e9) {
      trainer.step(batch);
      steps++;
    }
    return (System.nanoTime() - start) / 1e6 / steps;
  }
}
