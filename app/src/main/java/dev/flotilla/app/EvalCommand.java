package dev.flotilla.app;

import dev.flotilla.config.Catalogue;
import dev.flotilla.config.Change;
import dev.flotilla.config.Recipe;
import dev.flotilla.config.RunConfig;
import dev.flotilla.config.SavedRun;
import dev.flotilla.world.ExitCodes;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Scores a saved model. */
@Command(
    name = "eval",
    description = "Gives top-1 and top-5 accuracy of a saved model on test data.",
    mixinStandardHelpOptions = true)
final class EvalCommand implements Callable<Integer> {

  @Option(
      names = "--checkpoint",
      paramLabel = "DIR",
      required = true,
      description = "Folder of a run, or one of its checkpoints.")
  Path folder = Path.of("");

  @Option(
      names = "--data",
      paramLabel = "NAME|{name: …}",
      description = "Other data than the run's, for example '{name: mnist, path: DIR}'.")
  @Nullable String data;

  @Option(names = "--json", description = "Prints JSON, and nothing else.")
  boolean json;

  @Override
  public Integer call() {
    List<Change> changes = new ArrayList<>();
    if (data != null) {
      changes.add(Change.option("--data", "data", data));
    }
    var run = SavedRun.runOf(folder);
    var recipe = Recipe.of(run.toString(), SavedRun.configuration(run));
    var config = RunConfig.read(recipe.overlay(changes), Catalogue.installed());
    var result = SavedRun.evaluate(folder, config);
    Map<String, Object> shown = new LinkedHashMap<>();
    shown.put("accuracy", result.score().acc1());
    shown.put("accuracy_top5", result.score().acc5());
    shown.put("loss", result.loss());
    shown.put("samples", result.samples());
    System.out.println(
        json
            ? Json.pretty(shown)
            : String.format(
                Locale.ROOT,
                "acc1 %.2f  acc5 %.2f  loss %.4f  on %,d samples",
                100 * result.score().acc1(),
                100 * result.score().acc5(),
                result.loss(),
                result.samples()));
    return ExitCodes.OK;
  }
}
