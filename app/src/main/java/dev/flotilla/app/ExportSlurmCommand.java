package dev.flotilla.app;

import dev.flotilla.app.cluster.SlurmScript;
import dev.flotilla.world.ExitCodes;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Writes an sbatch script that trains a recipe under Slurm. */
@Command(
    name = "slurm",
    description = {
      "Prints an sbatch script that trains a recipe: it saves before the job's time is over,",
      "is queued again, and goes on from its newest checkpoint."
    },
    footer = {
      "",
      "Example:",
      "  flotilla export slurm digits.yaml --nproc 2 --time 60 > job.sbatch"
    },
    mixinStandardHelpOptions = true)
final class ExportSlurmCommand implements Callable<Integer> {

  @Mixin ClusterOptions job = new ClusterOptions();

  @Option(
      names = "--time",
      paramLabel = "TIME",
      description = "The longest time of the job: minutes, HH:MM:SS or D-HH:MM:SS; one hour.")
  String time = "01:00:00";

  @Option(
      names = "--out",
      paramLabel = "DIR",
      description = "Folder of the run, which all nodes see; by default runs/NAME.")
  @Nullable Path out;

  @Option(
      names = "--sbatch",
      paramLabel = "OPTION",
      description = "Further option of sbatch, such as --sbatch=--partition=short; repeatable.")
  List<String> options = List.of();

  @Option(
      names = "--flotilla",
      paramLabel = "COMMAND",
      description = "What starts Flotilla on the nodes; by default this program.")
  @Nullable String flotilla;

  @Override
  public Integer call() {
    var shape = job.check();
    var folder = out == null ? Path.of("runs", shape.name()) : out;
    var script =
        new SlurmScript(
            shape,
            time,
            flotilla == null ? thisProgram() : flotilla,
            job.recipe.arguments(),
            folder.toAbsolutePath().normalize().toString(),
            options);
    System.out.print(script.text());
    return ExitCodes.OK;
  }

  /** Returns the script beside whose app/target/lib this program runs, or the command's name. */
  private static String thisProgram() {
    return Stream.of(RankLaunch.ownClassPath().split(File.pathSeparator, -1))
        .map(entry -> Path.of(entry).toAbsolutePath())
        .filter(entry -> entry.getNameCount() > 4)
        .map(entry -> entry.resolve("../../../../flotilla").normalize())
        .filter(Files::isExecutable)
        .filter(Files::isRegularFile)
        .findFirst()
        .map(Path::toString)
        .orElse("flotilla");
  }
}
