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
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Writes a saved model for other programs. */
@Command(
    name = "export",
    description = {
      "Writes a saved model for other programs: as ONNX, with everything it computes,",
      "or its weights as safetensors, under the names of PyTorch's state dict."
    },
    customSynopsis =
        "flotilla export RUN --format onnx|safetensors [--weights ema] [--out FILE]"
            + " [--shape CxHxW] [--force]",
    footer = {"", "Example:", "  flotilla export runs/first --format onnx --out lenet5.onnx"},
    mixinStandardHelpOptions = true)
final class ExportCommand implements Callable<Integer> {

  private static final Pattern SHAPE = Pattern.compile("[1-9]\\d{0,8}([x,][1-9]\\d{0,8})*");

  @Parameters(paramLabel = "RUN", description = "Folder of a run, or one of its checkpoints.")
  Path folder = Path.of("");

  @Option(
      names = "--format",
      paramLabel = "FORMAT",
      required = true,
      description = "What to write: ${COMPLETION-CANDIDATES}.")
  ExportFormat format = ExportFormat.ONNX;

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
    SavedRunOptions.requireFolder("RUN", folder);
    var export = ModelExport.of(folder, weights);
    if (shape != null) {
      export = export.withSampleShape(extents(shape));
    }
    if (force) {
      export = export.replacing();
    }
    System.out.println(format.write(export, out == null ? usualFile() : out));
    return ExitCodes.OK;
  }

  private static long[] extents(String shape) {
    if (!SHAPE.matcher(shape).matches()) {
      throw new ConfigException(
          "--shape", "must be extents like 3x224x224, but was '%s'".formatted(shape));
    }
    return Pattern.compile("[x,]").splitAsStream(shape).mapToLong(Long::parseLong).toArray();
  }

  private Path usualFile() {
    var run = SavedRun.runOf(folder).toAbsolutePath().normalize();
    return Path.of("%s.%s".formatted(run.getFileName(), format));
  }
}
