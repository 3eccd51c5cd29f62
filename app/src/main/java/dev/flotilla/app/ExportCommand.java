package dev.flotilla.app;

import dev.flotilla.config.SavedRun;
import dev.flotilla.config.SavedWeights;
import dev.flotilla.predict.ModelExport;
import dev.flotilla.settings.ConfigException;
import dev.flotilla.world.ExitCodes;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Writes a saved model for other programs, or a recipe for the scheduler of a cluster. */
@Command(
    name = "export",
    description = {
      "Writes a saved model for other programs: as ONNX, with everything it computes,",
      "or its weights as safetensors, under the names of PyTorch's state dict.",
      "Or prints what makes a cluster train a recipe, for Slurm or Kubernetes."
    },
    customSynopsis = {
      "flotilla export RUN --format onnx|safetensors [--weights ema] [--out FILE]"
          + " [--shape CxHxW] [--force]",
      "flotilla export slurm|kubernetes RECIPE [OPTION]..."
    },
    subcommands = {ExportSlurmCommand.class, ExportKubernetesCommand.class},
    footer = {"", "Example:", "  flotilla export runs/first --format onnx --out lenet5.onnx"},
    mixinStandardHelpOptions = true)
final class ExportCommand implements Callable<Integer> {

  private static final String MISSING_FORMAT =
      "Missing required option: '--format=FORMAT' (onnx or safetensors)";

  private static final Pattern SHAPE = Pattern.compile("[1-9]\\d{0,8}([x,][1-9]\\d{0,8})*");

  @Spec CommandSpec spec = CommandSpec.create();

  @Parameters(
      arity = "0..1",
      paramLabel = "RUN",
      description = "Folder of a run, or one of its checkpoints.")
  @Nullable Path folder;

  @Option(
      names = "--format",
      paramLabel = "FORMAT",
      description = "What to write: ${COMPLETION-CANDIDATES}.")
  @Nullable ExportFormat format;

  @Option(
      names = "--weights",
      paramLabel = "live|ema",
      description = "The trained weights (default), or their moving average.")
  SavedWeights weights = SavedWeights.LIVE;

  @Option(
      names = "--out",
      paramLabel = "FILE",
      description = "File to write; by default the run's name here, with the format behind it.")
  @Nullable Path out;

  @Option(
      names = "--shape",
      paramLabel = "CxHxW",
      description = "Shape of one sample for ONNX, if not that of the run's data.")
  @Nullable String shape;

  @Option(names = "--force", description = "Replaces the file if it is there already.")
  boolean force;

  @Override
  public Integer call() {
    // picocli would ask for them in front of a subcommand, too.
    if (folder == null || format == null) {
      throw new ParameterException(
          spec.commandLine(),
          folder == null ? "Missing the folder RUN, or slurm or kubernetes" : MISSING_FORMAT);
    }
    SavedRunOptions.requireFolder("RUN", folder);
    var export = ModelExport.of(folder, weights);
    if (shape != null) {
      export = export.withSampleShape(extents(shape));
    }
    if (force) {
      export = export.replacing();
    }
    System.out.println(format.write(export, out == null ? usualFile(folder, format) : out));
    return ExitCodes.OK;
  }

  private static long[] extents(String shape) {
    if (!SHAPE.matcher(shape).matches()) {
      throw new ConfigException(
          "--shape", "must be extents like 3x224x224, but was '%s'".formatted(shape));
    }
    return Pattern.compile("[x,]").splitAsStream(shape).mapToLong(Long::parseLong).toArray();
  }

  private static Path usualFile(Path folder, ExportFormat format) {
    var run = SavedRun.runOf(folder).toAbsolutePath().normalize();
    return Path.of("%s.%s".formatted(run.getFileName(), format));
  }
}
