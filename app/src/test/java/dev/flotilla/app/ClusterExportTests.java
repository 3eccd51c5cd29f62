package dev.flotilla.app;

import static dev.flotilla.app.cluster.YamlDocuments.at;
import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.app.cluster.YamlDocuments;
import dev.flotilla.testkit.FreePorts;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * What is exported for a cluster starts ranks: its arguments are used as they are written, under
 * the variables that Kubernetes and Kubeflow set.
 */
class ClusterExportTests {

  private static final String RECIPE =
      """
      model: {name: mlp, hidden: [16]}
      data: digits
      global_batch: 32
      max_steps: 20
      optimizer: {name: momentum, lr: 0.05}
      threads: 1
      device: cpu
      """;

  @TempDir Path folder;
  private Flotilla flotilla;

  @BeforeEach
  void writeRecipe() throws IOException {
    flotilla = Flotilla.in(folder).having("recipe.yaml", RECIPE);
    KeyFile.write(
        flotilla.work().resolve("job.key"), "a key of a test, with 32 characters or more");
  }

  @Test
  void podsOfAJobSetTrainTogether() throws IOException {
    var container = at(export("jobset"), "spec", "replicatedJobs", 0, "template", "spec");
    var args = args(at(container, "template", "spec", "containers", 0, "args"));
    int port = FreePorts.next();
    args.set(args.indexOf("--master-port") + 1, String.valueOf(port));
    args.set(args.indexOf("--master-addr") + 1, "127.0.0.1");
    train(args, flotilla, "JOB_COMPLETION_INDEX");
  }

  @Test
  void podsOfATrainJobTrainTogetherUnderKubeflowsVariables() throws IOException {
    var trainer = at(export("trainjob"), "spec", "trainer");
    var kubeflow =
        flotilla
            .with("PET_NNODES", at(trainer, "numNodes"))
            .with("PET_NPROC_PER_NODE", at(trainer, "numProcPerNode"))
            .with("PET_MASTER_ADDR", "127.0.0.1")
            .with("PET_MASTER_PORT", FreePorts.next());
    train(args(at(trainer, "args")), kubeflow, "PET_NODE_RANK");
  }

  private void train(List<String> args, Flotilla pods, String index) {
    try (var first = pods.with(index, 0).start(inPod(0, args));
        var second = pods.with(index, 1).start(inPod(1, args))) {
      first.await().expect(0);
      second.await().expect(0);
    }
    var summary = new RunFiles(flotilla.work().resolve("digits")).summary();
    assertThat(summary.get("ranks").asInt()).isEqualTo(2);
    assertThat(summary.get("weights_sha256").asString()).hasSize(64);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "slurm no.yaml | no.yaml",
        "slurm recipe.yaml --name=Job | --name: must be 1 to 40 small letters",
        "slurm recipe.yaml --time=long | --time: must be minutes, HH:MM:SS or D-HH:MM:SS",
        "slurm recipe.yaml --set=batchh=3 | batchh",
        "kubernetes recipe.yaml | --image",
        "kubernetes recipe.yaml --image=a --kind=pod | expected one of [JOBSET, TRAINJOB]",
        "kubernetes recipe.yaml --image=a --nproc=0 | --nproc: must be from 1 to 1024, but was 0",
      })
  void mistakesAreNamedBeforeAnythingIsWritten(String arguments, String message) {
    var known = flotilla.files();
    var words = arguments.replace("recipe.yaml", flotilla.work() + "/recipe.yaml");
    var ended = Ended.here(("export " + words).split(" ", -1)).expect(2);
    assertThat(ended.err()).contains(message);
    assertThat(ended.out()).isEmpty();
    assertThat(flotilla.files()).isEqualTo(known);
  }

  /** Returns the last document, that of the job itself. */
  private Map<?, ?> export(String kind) {
    var ended =
        flotilla.run(
            "export",
            "kubernetes",
            "recipe.yaml",
            "--image=you/flotilla:0.1.0",
            "--name=digits",
            "--nnodes=2",
            "--nproc=1",
            "--kind=" + kind);
    return YamlDocuments.of(ended.expect(0).out()).getLast();
  }

  /** Each pod has a folder for temporary files of its own. */
  private static String[] inPod(int pod, List<String> args) {
    return args.stream()
        .map(word -> word.replace("/tmp/flotilla-log", "log-" + pod))
        .toArray(String[]::new);
  }

  /** What is mounted in a pod lies in the working folder here. */
  private static List<String> args(Object list) {
    List<String> args = new ArrayList<>();
    for (var word : (List<?>) list) {
      args.add(
          String.valueOf(word)
              .replace("/etc/flotilla/recipe/", "")
              .replace("/etc/flotilla/key/", "")
              .replace("/runs/", ""));
    }
    return args;
  }
}
