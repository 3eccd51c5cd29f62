package dev.flotilla.examples;

import dev.flotilla.booster.Boosted;
import dev.flotilla.booster.Booster;
import dev.flotilla.booster.Chunked;
import dev.flotilla.booster.DataParallel;
import dev.flotilla.booster.LowLevelZero;
import dev.flotilla.booster.Plugin;
import dev.flotilla.data.DataSource;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.model.Model;
import dev.flotilla.optim.Momentum;
import dev.flotilla.settings.ConfigException;
import dev.flotilla.wire.Dtype;
import dev.flotilla.world.World;
import dev.flotilla.zoo.data.Cifar10;
import dev.flotilla.zoo.data.SyntheticImages;
import dev.flotilla.zoo.model.ResNet18;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.IntPredicate;
import java.util.function.Supplier;

/**
 * ResNet-18 learns CIFAR-10 in a loop of its own, with a plugin that is named on the command line
 * and gradients of four micro-batches to an update. Watches a parameter, and checks that it moves
 * where an update is due and nowhere else.
 *
 * <pre>{@code
 * ./flotilla run --nproc 2 --main dev.flotilla.examples.BoostedResNet -cp examples.jar \
 *     low_level_zero FOLDER_OF_CIFAR_10
 * }</pre>
 *
 * <p>Without a folder, images are noise.
 */
public final class BoostedResNet {

  private static final int ACCUMULATION = 4;
  private static final int BATCH = 8;
  private static final Map<String, Supplier<Plugin>> PLUGINS =
      new TreeMap<>(
          Map.of(
              "data_parallel", DataParallel::new,
              "data_parallel_bf16", () -> new DataParallel().withPrecision(Dtype.BF16),
              "low_level_zero", LowLevelZero::new,
              "low_level_zero_2", () -> new LowLevelZero(2),
              "chunked", Chunked::new));

  private BoostedResNet() {}

  /** Prints, on rank 0, the first parameter after each of twelve micro-batches. */
  public static void main(String[] args) {
    var world = World.join();
    var rows =
        run(
            world,
            plugin(args.length > 0 ? args[0] : "data_parallel"),
            new ResNet18(10),
            args.length > 1
                ? new Cifar10(Path.of(args[1]), true)
                : new SyntheticImages(3, 32, 10, 1024, 64),
            3 * ACCUMULATION,
            BoostedResNet::isBoundary);
    if (world.isLeader()) {
      System.out.println("iteration    loss  first parameter  moved");
      rows.forEach(System.out::println);
      System.out.println(mistake(rows).orElse("moved at every fourth iteration only"));
    }
  }

  /**
   * Returns a plugin by its name.
   *
   * @throws ConfigException if there is none of this name
   */
  static Plugin plugin(String name) {
    var known = PLUGINS.get(name);
    if (known == null) {
      throw new ConfigException(
          "plugin",
          "must be one of %s, but was '%s'".formatted(String.join(", ", PLUGINS.keySet()), name));
    }
    return known.get();
  }

  /** Tells whether an update follows a micro-batch, counted from 0. */
  static boolean isBoundary(int iteration) {
    return (iteration + 1) % ACCUMULATION == 0;
  }

  /**
   * A line of the table.
   *
   * @param iteration number of the micro-batch, from 0
   * @param loss mean loss since the last update
   * @param parameter first weight of the first layer afterwards
   * @param moved whether it has changed
   */
  record Row(int iteration, double loss, double parameter, boolean moved) {
    @Override
    public String toString() {
      return "%9d  %6.4f  %15.9f  %s".formatted(iteration, loss, parameter, moved ? "yes" : "no");
    }
  }

  /**
   * Trains on micro-batches of an epoch.
   *
   * @param isBoundary where this loop updates
   */
  static List<Row> run(
      World world,
      Plugin plugin,
      Model model,
      DataSource images,
      int iterations,
      IntPredicate isBoundary) {
    List<Row> rows = new ArrayList<>();
    try (var boosted = Booster.with(plugin).boost(world, model, new Momentum(0.01, 0.9))) {
      // One rank of a host reads first; a program that downloads would do so here.
      var train = boosted.priority(images::train);
      var data = boosted.prepare(train.batches(BATCH).shuffled(42).dropLast());
      double before = firstParameter(boosted); // before the first step, not after it
      for (var batch : data.epoch(0)) {
        int iteration = rows.size();
        double loss;
        if (isBoundary.test(iteration)) {
          loss = boosted.step(batch).totals().meanLoss();
        } else if (plugin.refusalOfNoSync().isPresent()) {
          loss = boosted.forwardBackward(batch).meanLoss();
        } else {
          try (var _ = boosted.noSync()) {
            loss = boosted.forwardBackward(batch).meanLoss();
          }
        }
        double after = firstParameter(boosted);
        rows.add(new Row(iteration, loss, after, after != before));
        before = after;
        if (rows.size() == iterations) {
          break;
        }
      }
    }
    return rows;
  }

  /** Returns where the parameter has moved, or stayed, against what accumulation promises. */
  static Optional<String> mistake(List<Row> rows) {
    return rows.stream()
        .filter(row -> row.moved() != isBoundary(row.iteration()))
        .findFirst()
        .map(
            row ->
                "WRONG: the parameter has %s at iteration %d, but %d micro-batches make an update"
                    .formatted(row.moved() ? "moved" : "stayed", row.iteration(), ACCUMULATION));
  }

  private static double firstParameter(Boosted boosted) {
    try (var _ = TensorScope.open()) {
      return boosted.read(
          model -> model.parameter("conv1.weight").flatten().narrow(0, 0, 1).item_double());
    }
  }
}
