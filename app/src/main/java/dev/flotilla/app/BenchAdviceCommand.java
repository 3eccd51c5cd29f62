package dev.flotilla.app;

import dev.flotilla.app.advise.Advice;
import dev.flotilla.app.advise.Combination;
import dev.flotilla.app.advise.LinkRate;
import dev.flotilla.app.advise.Prediction;
import dev.flotilla.config.StepTrial;
import dev.flotilla.control.PrivateFiles;
import dev.flotilla.settings.ConfigException;
import dev.flotilla.world.ExitCodes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.BiFunction;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Compares what {@code flotilla plan --advise} predicts with what is measured. */
@Command(
    name = "advice",
    description = {
      "Compares what flotilla plan --advise predicts, memory and time of an update, with what is"
          + " measured between test hosts over links of several rates.",
      "As root, builds test hosts of network namespaces with shaped links, and takes them down"
          + " again; otherwise uses the loopback interface, unshaped."
    },
    footer = {
      "",
      "Example: one model, eight configurations at one rate",
      "  flotilla bench advice --models lenet5 --rates 100mbit"
    },
    mixinStandardHelpOptions = true)
final class BenchAdviceCommand implements Callable<Integer> {

  private static final int PORT = 29800;

  @Option(
      names = "--models",
      split = ",",
      paramLabel = "MODEL",
      description = "Models of built-in recipes; by default bert-tiny,resnet18.")
  List<String> models = List.of("bert-tiny", "resnet18");

  @Option(
      names = "--rates",
      split = ",",
      paramLabel = "RATE",
      description = "Rates of the links as tc writes them, or free; by default free,1gbit,100mbit.")
  List<String> rates = List.of("free", "1gbit", "100mbit");

  @Option(
      names = "--rows",
      split = ",",
      paramLabel = "NAME",
      description =
          "Combinations by their names in the table of plan --advise; by default eight of them.")
  List<String> rows =
      List.of(
          "plain", "overlap", "recompute", "merge", "sharding 1", "sharding 3", "dgc", "localsgd");

  @Option(names = "--hosts", paramLabel = "N", description = "Test hosts, a rank on each; 2.")
  int hosts = 2;

  @Option(names = "--cycles", paramLabel = "N", description = "Timed stretches of a trial; 5.")
  int cycles = 5;

  /** A link of a rate, and what was compared over it. */
  private record Link(String rate, LinkRate measured, List<AdviceErrors.Row> rows) {

    Advice advice() {
      var predicted = rows.stream().map(AdviceErrors.Row::predicted).toList();
      return new Advice(predicted, Long.MAX_VALUE, false);
    }
  }

  private final List<AdviceErrors.Row> all = new ArrayList<>();

  @Override
  public Integer call() throws IOException {
    check();
    Unpacking.ensureDone();
    var folder = Files.createTempDirectory("flotilla-advice");
    var lab = Lab.build(hosts);
    try {
      for (var model : models) {
        compare(model, lab, folder);
      }
      System.out.print(AdviceErrors.summary(all));
      return ExitCodes.OK;
    } finally {
      lab.ifPresent(Lab::close);
      PrivateFiles.deleteFolder(folder);
    }
  }

  private void check() {
    if (hosts < 2 || cycles < 1) {
      throw new ConfigException(
          "bench advice",
          "needs --hosts of at least 2 and --cycles of at least 1, but was given %d and %d"
              .formatted(hosts, cycles));
    }
    Lab.requireRates(rates);
    models.forEach(BenchAdviceCommand::builtIn);
  }

  private static List<String> builtIn(String model) {
    return BenchNetworkCommand.builtIn("--models", model, "");
  }

  private void compare(String model, Optional<Lab> lab, Path folder) {
    var recipe = new RecipeOptions();
    recipe.setFirst(builtIn(model));
    var trials = new Trials(recipe, hosts, hosts, cycles, folder);
    var chosen =
        PlanAdvice.combinations(recipe.read(), hosts).stream()
            .filter(it -> rows.contains(it.name()))
            .toList();
    if (chosen.isEmpty()) {
      throw new ConfigException("--rows", "names no combination, but was " + rows);
    }
    boolean isBusy = Trials.useAllCores(recipe.read(), hosts);
    var links = links(lab, trials, folder, isBusy);
    for (var combination : chosen) {
      for (var link : links) {
        System.err.printf("flotilla: %s, %s, %s%n", model, link.rate, combination.name());
        lab.ifPresent(it -> it.shape(link.rate));
        var both =
            trials.inTurn(
                trials.alone(combination), trials.together(combination, place(lab, folder, PORT)));
        var predicted = Prediction.of(combination, both.getFirst(), link.measured, hosts);
        link.rows.add(new AdviceErrors.Row(predicted, both.getLast()));
      }
    }
    links.forEach(link -> print(model, link));
    links.forEach(
        link -> {
          lab.ifPresent(it -> it.shape(link.rate));
          inTurn(
              model,
              link,
              (recommended, fastest) ->
                  trials.inTurn(
                      trials.together(recommended, place(lab, folder, PORT)),
                      trials.together(fastest, place(lab, folder, PORT + 1))));
        });
  }

  /** Rows lie minutes apart: the recommended one and the fastest are compared once more. */
  private static void inTurn(
      String model,
      Link link,
      BiFunction<Combination, Combination, List<StepTrial.Result>> measure) {
    var choice = AdviceErrors.choice(link.rows, link.advice());
    if (choice.isEmpty() || choice.get().isFastest()) {
      return;
    }
    var chosen = choice.get().chosen();
    var fastest = choice.get().fastest();
    var both = measure.apply(chosen.predicted().combination(), fastest.predicted().combination());
    System.out.printf(
        Locale.ROOT,
        "%s, %s, in turn: %s takes %.3f of %s%n",
        model,
        link.rate,
        chosen.name(),
        chosen.again(both.getFirst()).measuredPerSample()
            / fastest.again(both.getLast()).measuredPerSample(),
        fastest.name());
  }

  private List<Link> links(Optional<Lab> lab, Trials trials, Path folder, boolean isBusy) {
    List<Link> links = new ArrayList<>();
    for (var rate : lab.isPresent() ? rates : List.of("free")) {
      lab.ifPresent(it -> it.shape(rate));
      var measured = LinkRate.of(trials.probe(place(lab, folder, PORT)), "measured");
      links.add(new Link(rate, isBusy ? measured : measured.withFreeCores(), new ArrayList<>()));
    }
    return links;
  }

  private void print(String model, Link link) {
    all.addAll(link.rows);
    System.out.printf("%n%s, %s: %s%n", model, link.rate, link.measured.text());
    System.out.print(AdviceErrors.table(link.rows, link.advice()));
  }

  /** Where ranks meet; a file in which ranks have met is not met in again. */
  private static Trials.Place place(Optional<Lab> lab, Path folder, int port) {
    return lab.map(it -> new Trials.Place(it::on, it.address(0), port))
        .orElseGet(
            () ->
                new Trials.Place(
                    _ -> List.of(), folder.resolve("meeting-" + System.nanoTime()).toString(), 0));
  }
}
