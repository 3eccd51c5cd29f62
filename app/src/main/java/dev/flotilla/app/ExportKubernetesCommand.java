package dev.flotilla.app;

import dev.flotilla.app.cluster.JobShape;
import dev.flotilla.app.cluster.KubernetesJob;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Writes what makes Kubernetes train a recipe. */
@Command(
    name = "kubernetes",
    description = {
      "Prints a JobSet, or a TrainJob of Kubeflow with its TrainingRuntime, that trains a recipe:",
      "one pod per host, a volume for checkpoints, the job's key from a secret of yours."
    },
    footer = {
      "",
      "Example:",
      "  flotilla export kubernetes digits.yaml --image you/flotilla > job.yaml"
    },
    mixinStandardHelpOptions = true)
final class ExportKubernetesCommand implements Callable<Integer> {

  /** What runs the pods. */
  enum Kind {
    JOBSET,
    TRAINJOB
  }

  @Mixin ClusterOptions job = new ClusterOptions();

  @Option(
      names = "--image",
      paramLabel = "IMAGE",
      required = true,
      description = "Container image in which the command flotilla works.")
  String image = "";

  @Option(
      names = "--kind",
      paramLabel = "jobset|trainjob",
      description = "A JobSet (default), or Kubeflow's TrainJob and TrainingRuntime.")
  Kind kind = Kind.JOBSET;

  @Option(names = "--memory", paramLabel = "SIZE", description = "Memory of a pod; 4Gi.")
  String memory = "4Gi";

  @Option(names = "--gpus", paramLabel = "N", description = "GPUs of a pod; 0.")
  int gpus;

  @Option(names = "--storage", paramLabel = "SIZE", description = "Volume for runs; 10Gi.")
  String storage = "10Gi";

  @Option(
      names = "--key-secret",
      paramLabel = "NAME",
      description = "Secret with the job's key as job.key; by default the job's name with -key.")
  @Nullable String keySecret;

  @Override
  public Integer call() {
    return job.print(
        shape -> kind == Kind.JOBSET ? describe(shape).jobSet() : describe(shape).trainJob());
  }

  private KubernetesJob describe(JobShape shape) {
    return new KubernetesJob(
        shape,
        image,
        memory,
        gpus,
        storage,
        keySecret == null ? shape.name() + "-key" : keySecret,
        recipe(),
        changes());
  }

  private String recipe() {
    try {
      return job.recipe.recipe == null
          ? RecipeOptions.defaultRecipe()
          : Files.readString(job.recipe.recipe);
    } catch (IOException failure) {
      throw new UncheckedIOException("cannot read " + job.recipe.recipe, failure);
    }
  }

  /** Returns what the command line changes of the recipe; its file lies elsewhere in a pod. */
  private List<String> changes() {
    var words = job.recipe.arguments();
    return job.recipe.recipe == null ? words : words.subList(1, words.size());
  }
}
