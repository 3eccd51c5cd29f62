package dev.flotilla.app;

import dev.flotilla.checkpoint.CheckpointException;
import dev.flotilla.config.RunConfig;
import dev.flotilla.config.SavedRun;
import dev.flotilla.config.SavedSamples;
import dev.flotilla.predict.Prediction;
import dev.flotilla.predict.RankPredictions;
import dev.flotilla.settings.ConfigException;
import dev.flotilla.train.Trainer;
import dev.flotilla.world.ExitCodes;
import dev.flotilla.world.World;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.OutputStreamWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Predicts test data with a saved model; as one rank of several where the environment says so. */
@Command(
    name = "predict",
    description = {
      "Writes what a saved model says of each sample of the test data: class and probabilities.",
      "With --nproc (or any other option of flotilla run) over ranks; the file is the same."
    },
    customSynopsis =
        "flotilla predict RUN [--nproc N] [--weights ema] [--data NAME|{...}] [--out"
            + " FILE.csv|FILE.jsonl]",
    footer = {"", "Example:", "  flotilla predict runs/first --out predictions.csv"},
    mixinStandardHelpOptions = true)
final class PredictCommand implements Callable<Integer>, SavedRunLaunch.Job {

  @Parameters(paramLabel = "RUN", description = "Folder of a run, or one of its checkpoints.")
  Path folder = Path.of("");

  @Mixin SavedRunOptions saved = new SavedRunOptions();

  @Option(
      names = "--out",
      paramLabel = "FILE",
      description = "File to write, .csv or .jsonl; by default CSV on standard output.")
  @Nullable Path out;

  @Option(names = "--result", hidden = true, description = "File for what else would be printed.")
  @Nullable Path result;

  /** Reads the arguments of a command that predicts without being called {@code predict}. */
  static PredictCommand parse(List<String> arguments) {
    return SavedRunOptions.parse(new PredictCommand(), arguments);
  }

  @Override
  public Integer call() {
    var format = format();
    var config = config();
    SavedRun.checkData(config);
    var world = World.join();
    try (var trainer = SavedRun.trainer(folder, saved.weights, config, world).build()) {
      if (!world.isLeader()) {
        predict(trainer, config, _ -> {});
      } else if (out != null) {
        write(out, format, trainer, config);
      } else {
        print(format, trainer, config);
      }
    }
    return ExitCodes.OK;
  }

  private void predict(Trainer trainer, RunConfig config, Consumer<Prediction> rows) {
    new RankPredictions(
            trainer.model(),
            trainer.collective(),
            config.data().unlabelled(),
            config.eval().batch())
        .run(classNames(config), rows);
  }

  /** The model's own names; those of other data may stand in another order. */
  private List<String> classNames(RunConfig config) {
    return SavedSamples.in(SavedRun.runOf(folder), config).classNames();
  }

  /** Writes under another name first, so that a half-written file never shows. */
  private void write(Path file, PredictionFormat format, Trainer trainer, RunConfig config) {
    var part = file.resolveSibling(file.getFileName() + ".part");
    try {
      long samples = writeTo(part, format, trainer, config);
      Files.move(part, file, StandardCopyOption.REPLACE_EXISTING);
      System.out.printf("%,d samples predicted into %s%n", samples, file);
    } catch (IOException failure) {
      throw new ConfigException(
          "--out", "cannot write %s: %s".formatted(file, CheckpointException.reason(failure)));
    }
  }

  private long writeTo(Path part, PredictionFormat format, Trainer trainer, RunConfig config)
      throws IOException {
    try (var writer = Files.newBufferedWriter(part)) {
      var rows = new PredictionWriter(format, writer);
      predict(trainer, config, rows);
      return rows.samples();
    }
  }

  private void print(PredictionFormat format, Trainer trainer, RunConfig config) {
    try {
      var target = result == null ? System.out : Files.newOutputStream(result);
      var writer = new BufferedWriter(new OutputStreamWriter(target, StandardCharsets.UTF_8));
      predict(trainer, config, new PredictionWriter(format, writer));
      writer.flush();
      if (result != null) {
        writer.close();
      }
    } catch (IOException failure) {
      throw new UncheckedIOException("cannot write predictions", failure);
    }
  }

  private PredictionFormat format() {
    String name = out == null ? ".csv" : String.valueOf(out.getFileName());
    if (name.endsWith(".csv")) {
      return PredictionFormat.CSV;
    }
    if (name.endsWith(".jsonl")) {
      return PredictionFormat.JSONL;
    }
    throw new ConfigException("--out", "must end in .csv or .jsonl, but was " + name);
  }

  private RunConfig config() {
    return saved.config("RUN", folder);
  }

  @Override
  public Path folder() {
    return folder;
  }

  @Override
  public void check() {
    var _ = format();
    SavedRun.checkData(config());
  }

  @Override
  public List<String> arguments(Path resultFile) {
    List<String> arguments = new ArrayList<>(List.of(folder.toString()));
    arguments.addAll(saved.arguments());
    arguments.addAll(
        out == null
            ? List.of("--result", resultFile.toString())
            : List.of("--out", out.toAbsolutePath().toString()));
    return arguments;
  }

  @Override
  public boolean printsResult() {
    return out == null;
  }
}
