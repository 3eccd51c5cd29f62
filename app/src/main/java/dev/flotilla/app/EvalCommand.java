package dev.flotilla.app;

import dev.flotilla.config.RunConfig;
import dev.flotilla.config.SavedRun;
import dev.flotilla.pass.Evaluation;
import dev.flotilla.world.ExitCodes;
import dev.flotilla.world.World;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Scores a saved model in this process; as one rank of several where the environment says so. */
@Command(
    name = "eval",
    description = {
      "Gives top-1 and top-5 accuracy of a saved model on test data.",
      "With --nproc (or any other option of flotilla run) over ranks, each sample exactly once."
    },
    customSynopsis =
        "flotilla eval [--nproc N] --checkpoint DIR [--weights ema] [--data NAME|{...}] [--json]",
    footer = {"", "Example:", "  flotilla eval --checkpoint runs/first"},
    mixinStandardHelpOptions = true)
final class EvalCommand implements Callable<Integer>, SavedRunLaunch.Job {

  @Option(
      names = "--checkpoint",
      paramLabel = "DIR",
      required = true,
      description = "Folder of a run, or one of its checkpoints.")
  Path folder = Path.of("");

  @Mixin SavedRunOptions saved = new SavedRunOptions();

  @Option(names = "--json", description = "Prints JSON, and nothing else.")
  boolean json;

  @Option(names = "--result", hidden = true, description = "File for the result as JSON.")
  @Nullable Path result;

  /** Reads the arguments of a command that evaluates without being called {@code eval}. */
  static EvalCommand parse(List<String> arguments) {
    return SavedRunOptions.parse(new EvalCommand(), arguments);
  }

  @Override
  public Integer call() {
    var world = World.join();
    var evaluation = SavedRun.evaluate(folder, saved.weights, config(), world);
    if (world.isLeader()) {
      report(evaluation);
    }
    return ExitCodes.OK;
  }

  private RunConfig config() {
    return saved.config("--checkpoint", folder);
  }

  @Override
  public Path folder() {
    return folder;
  }

  @Override
  public void check() {
    SavedRun.checkData(config());
  }

  @Override
  public boolean printsResult() {
    return json;
  }

  @Override
  public List<String> arguments(Path resultFile) {
    List<String> arguments = new ArrayList<>(List.of("--checkpoint", folder.toString()));
    arguments.addAll(saved.arguments());
    arguments.addAll(List.of("--result", resultFile.toString()));
    return arguments;
  }

  private void report(Evaluation evaluation) {
    var values = Json.pretty(values(evaluation));
    if (result != null) {
      write(result, values + System.lineSeparator());
    }
    System.out.println(json ? values : text(evaluation));
  }

  private static void write(Path file, String text) {
    try {
      Files.writeString(file, text);
    } catch (IOException failure) {
      throw new UncheckedIOException("cannot write the result to " + file, failure);
    }
  }

  private static Map<String, Object> values(Evaluation evaluation) {
    Map<String, Object> values = new LinkedHashMap<>();
    values.put("accuracy", evaluation.score().acc1());
    values.put("accuracy_top5", evaluation.score().acc5());
    values.put("loss", evaluation.loss());
    values.put("samples", evaluation.samples());
    if (!evaluation.metrics().isEmpty()) {
      values.put("metrics", evaluation.shownMetrics());
    }
    return values;
  }

  private static String text(Evaluation evaluation) {
    return String.format(
        Locale.ROOT,
        "acc1 %.2f  acc5 %.2f  loss %.4f%s  on %,d samples%s",
        100 * evaluation.score().acc1(),
        100 * evaluation.score().acc5(),
        evaluation.loss(),
        MetricText.of(evaluation.shownMetrics()),
        evaluation.samples(),
        MetricText.tables(evaluation.shownMetrics()));
  }
}
