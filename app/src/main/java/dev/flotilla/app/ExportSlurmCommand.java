package dev.flotilla.app;

import dev.flotilla.app.cluster.JobShape;
import dev.flotilla.app.cluster.SlurmScript;
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

  @Mixin RunFolderOption out = new RunFolderOption();

  @Option(
      names = "--time",
      paramLabel = "TIME",
      description = "The longest time of the job: minutes, HH:MM:SS or D-HH:MM:SS; one hour.")
  String time = "01:00:00";

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
    return job.print(shape -> script(shape).text());
  }

  private SlurmScript script(JobShape shape) {
    var folder = out.folder == null ? Path.of("runs", shape.name()) : out.folder;
    return new SlurmScript(
        shape,
        time,
        flotilla == null ? thisProgram() : flotilla,
        job.recipe.arguments(),
        folder.toAbsolutePath().normalize().toString(),
        options);
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
