package dev.flotilla.app;

import dev.flotilla.control.PrivateFiles;
import dev.flotilla.launch.RankCommand;
import dev.flotilla.settings.ConfigException;
import dev.flotilla.world.ExitCodes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Compares techniques over links of several rates, between test hosts on this machine. */
@Command(
    name = "network",
    description = {
      "Compares techniques over links of several rates.",
      "As root, builds test hosts of network namespaces with shaped links, and takes them down"
          + " again; otherwise uses the loopback interface, unshaped."
    },
    footer = {"", "Example:", "  flotilla bench network --rates 100mbit,1gbit --rounds 3"},
    mixinStandardHelpOptions = true)
final class BenchNetworkCommand implements Callable<Integer> {

  private static final int PORT = 29700;

  @Mixin RecipeOptions recipe = new RecipeOptions();

  @Option(
      names = "--model",
      paramLabel = "MODEL",
      description = "Model of the built-in recipe: resnet18 (default), lenet5 or bert-tiny.")
  String model = "resnet18";

  @Option(
      names = "--rates",
      split = ",",
      paramLabel = "RATE",
      description = "Rates of the links as tc writes them, or free; by default free,1gbit,100mbit.")
  List<String> rates = List.of("free", "1gbit", "100mbit");

  @Option(names = "--hosts", paramLabel = "N", description = "Test hosts, a rank on each; 2.")
  int hosts = 2;

  @Option(names = "--rounds", paramLabel = "N", description = "Measured rounds; 7.")
  int rounds = 7;

  @Option(
      names = "--steps",
      paramLabel = "N",
      description =
          "Steps per round; a multiple of k for techniques that exchange every k steps; 1.")
  int steps = 1;

  @Option(
      names = "--technique",
      paramLabel = "NAME=STRATEGY",
      description = "A row, for example 'merged=gradient_merge: {k_steps: 4}'; repeatable.")
  List<String> techniques = new ArrayList<>();

  @Option(
      names = "--python",
      paramLabel = "PYTHON",
      description = "Adds a row of PyTorch's DistributedDataParallel, run by this interpreter.")
  @Nullable String python;

  @Option(names = "--json", description = "Prints JSON, and nothing else.")
  boolean json;

  @Override
  public Integer call() throws IOException, InterruptedException {
    check();
    var variants = variants();
    var folder = Files.createTempDirectory("flotilla-bench");
    var lab = Lab.build(hosts);
    try {
      for (var rate : lab.isPresent() ? rates : List.of("free")) {
        lab.ifPresent(it -> it.shape(rate));
        var table = new BenchTable(rate, hosts, measure(lab, variants, folder));
        if (python != null) {
          PythonPeer.measure(python, model, batch(), lab, hosts, rounds, folder)
              .ifPresent(table::addPython);
        }
        System.out.print(json ? table.json() : table.text());
      }
      return ExitCodes.OK;
    } finally {
      lab.ifPresent(Lab::close);
      PrivateFiles.deleteFolder(folder);
    }
  }

  private void check() {
    if (hosts < 2 || rounds < 1 || steps < 1) {
      throw new ConfigException(
          "bench network",
          "needs --hosts of at least 2 and --rounds and --steps of at least 1, but was given %d, %d and %d"
              .formatted(hosts, rounds, steps));
    }
    Lab.requireRates(rates);
    if (recipe.recipe == null) {
      recipe.setFirst(builtIn("--model", model, ", or give a recipe"));
    }
    recipe.read();
  }

  /**
   * Returns the changes of the default recipe that make it one of a model.
   *
   * @param option that names the model
   * @param instead what else may be given, or nothing
   */
  static List<String> builtIn(String option, String model, String instead) {
    return switch (model) {
      case "resnet18" ->
          List.of(
              "model={name: resnet18, classes: 10, stem: cifar}",
              "data={name: synthetic-images, channels: 3, side: 32, classes: 10, samples: 64}",
              "batch=4",
              "optimizer={name: momentum, lr: 0.01}",
              "schedule=constant",
              "threads=1");
      case "lenet5" -> List.of("data=digits", "batch=64", "threads=1");
      case "bert-tiny" ->
          List.of(
              "model=bert-tiny",
              "data={name: synthetic-tokens, length: 128, samples: 64}",
              "batch=8",
              "optimizer={name: momentum, lr: 0.01}",
              "schedule=constant",
              "threads=1");
      default ->
          throw new ConfigException(
              option,
              "must be resnet18, lenet5 or bert-tiny%s, but was '%s'".formatted(instead, model));
    };
  }

  private int batch() {
    var batch = recipe.read().batch();
    return batch == null ? 1 : batch;
  }

  private List<BenchVariant> variants() {
    List<BenchVariant> variants = new ArrayList<>();
    variants.add(BenchVariant.ALONE);
    variants.addAll(
        techniques.isEmpty()
            ? BenchVariant.usual()
            : techniques.stream().map(BenchVariant::parse).toList());
    for (var variant : variants) {
      recipe.read(variant.change());
    }
    return variants;
  }

  private Map<String, Object> measure(Optional<Lab> lab, List<BenchVariant> variants, Path folder)
      throws IOException, InterruptedException {
    Unpacking.ensureDone();
    List<List<String>> commands = new ArrayList<>();
    for (int rank = 0; rank < hosts; rank++) {
      List<String> command = new ArrayList<>();
      int host = rank;
      lab.ifPresent(l -> command.addAll(l.on(host)));
      command.add(RankCommand.currentJava().toString());
      command.addAll(JvmOptions.ofRanks());
      command.addAll(List.of("-Xmx512m", "-cp", RankLaunch.ownClassPath()));
      command.add(BenchRank.class.getName());
      command.addAll(recipe.arguments());
      variants.forEach(variant -> command.addAll(List.of("--technique", variant.text())));
      command.addAll(
          List.of("--rounds=" + rounds, "--steps=" + steps, "--rank=" + rank, "--ranks=" + hosts));
      lab.ifPresent(l -> command.add("--master=" + l.address(0)));
      command.addAll(List.of("--port=" + PORT, "--folder=" + folder));
      commands.add(command);
    }
    HostProcesses.run(commands, folder);
    return Json.read(folder.resolve("result.json"));
  }
}
