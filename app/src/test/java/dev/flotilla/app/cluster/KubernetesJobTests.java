package dev.flotilla.app.cluster;

import static dev.flotilla.app.cluster.YamlDocuments.at;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.flotilla.settings.ConfigException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What is written for Kubernetes is what its APIs know, and holds no secret. */
class KubernetesJobTests {

  private static final String RECIPE = "model: lenet5\n  # odd: 'quotes' \"too\"\nbatch: 64\n";
  private static final KubernetesFields FIELDS = new KubernetesFields();

  private static KubernetesJob job(int hosts) {
    return new KubernetesJob(
        new JobShape("digits", hosts, 2, 1, 60, 3),
        "you/flotilla:0.1.0",
        "4Gi",
        1,
        "10Gi",
        "digits-key",
        RECIPE,
        List.of("--set", "optimizer={name: adam, lr: 0.1}"));
  }

  static Stream<String> files() {
    return Stream.of(job(1).jobSet(), job(2).jobSet(), job(1).trainJob(), job(2).trainJob());
  }

  @ParameterizedTest
  @MethodSource("files")
  void everyFieldIsInTheDocumentedApi(String text) {
    assertThat(YamlDocuments.of(text)).hasSizeGreaterThan(2).allSatisfy(this::isKnown);
  }

  private void isKnown(Map<?, ?> document) {
    assertThat(FIELDS.problems(document)).isEmpty();
  }

  @Test
  void fieldsThatTheApiDoesNotKnowAreFound() {
    var jobSet = new LinkedHashMap<Object, Object>(YamlDocuments.of(job(1).jobSet()).get(2));
    jobSet.put("spec", Map.of("suspend", "yes", "restarts", 3, "network", Map.of("subnet", "x")));
    assertThat(FIELDS.problems(jobSet))
        .containsExactlyInAnyOrder(
            "JobSet.spec.suspend must be boolean, but was yes",
            "JobSet.spec.restarts is not in the API",
            "JobSet.spec.network.subnet is not in the API");
  }

  @ParameterizedTest
  @MethodSource("files")
  void theKeyIsASecretThatIsNamedAlone(String text) {
    assertThat(text).contains("secretName: digits-key", "defaultMode: 256");
    assertThat(YamlDocuments.of(text)).noneMatch(it -> "Secret".equals(it.get("kind")));
  }

  @ParameterizedTest
  @MethodSource("files")
  void linesAreAsLintersWantThem(String text) {
    assertThat(text).endsWith("\n").doesNotContain("\t").doesNotContain("\n\n");
    assertThat(text.lines()).noneMatch(line -> line.endsWith(" "));
  }

  @Test
  void theRecipeArrivesAsItIs() {
    assertThat(at(YamlDocuments.of(job(2).jobSet()).getFirst(), "data", "recipe.yaml"))
        .isEqualTo(RECIPE);
  }

  @Test
  void podsOfAJobSetFindTheFirstOneThroughItsHeadlessService() {
    var spec = at(YamlDocuments.of(job(2).jobSet()).getLast(), "spec");
    assertThat(at(spec, "network"))
        .isEqualTo(
            Map.of(
                "enableDNSHostnames",
                true,
                "subdomain",
                "digits",
                "publishNotReadyAddresses",
                true));
    var replicated = at(spec, "replicatedJobs", 0, "template", "spec");
    assertThat(at(replicated, "completionMode")).isEqualTo("Indexed");
    assertThat(at(replicated, "completions")).isEqualTo(2);
    var pod = at(replicated, "template", "spec");
    assertThat(at(pod, "terminationGracePeriodSeconds")).isEqualTo(90);
    assertThat(String.join(" ", strings(at(pod, "containers", 0, "args"))))
        .isEqualTo(
            "run --nproc 2 --nnodes 2 --master-addr digits-node-0-0.digits --master-port 29500"
                + " --job-key-file /etc/flotilla/key/job.key --stop-grace-period 60 --max-restarts"
                + " 3 --log-dir /tmp/flotilla-log /etc/flotilla/recipe/recipe.yaml --set"
                + " optimizer={name: adam, lr: 0.1} --out /runs/digits --resume auto");
  }

  @Test
  void aTrainJobSaysHowManyAndItsRuntimeHow() {
    var documents = YamlDocuments.of(job(2).trainJob());
    var trainJob = documents.getLast();
    assertThat(at(trainJob, "spec", "runtimeRef", "name")).isEqualTo("digits-runtime");
    assertThat(at(trainJob, "spec", "trainer", "numNodes")).isEqualTo(2);
    assertThat(at(trainJob, "spec", "trainer", "numProcPerNode")).isEqualTo(2);
    assertThat(strings(at(trainJob, "spec", "trainer", "args")))
        .startsWith("run", "--job-key-file")
        .doesNotContain("--nnodes", "--master-addr");
    var job = at(documents.get(2), "spec", "template", "spec", "replicatedJobs", 0);
    assertThat(at(job, "name")).isEqualTo("node");
    assertThat(at(job, "template", "metadata", "labels"))
        .isEqualTo(Map.of("trainer.kubeflow.org/trainjob-ancestor-step", "trainer"));
    assertThat(at(job, "template", "spec", "template", "spec", "containers", 0, "name"))
        .isEqualTo("node");
  }

  @Test
  void allMistakesAreNamedTogether() {
    assertThatThrownBy(
            () ->
                new KubernetesJob(
                    new JobShape("digits", 1, 2, 1, 60, 3),
                    "an image",
                    "much",
                    -1,
                    "10Gi",
                    "Key",
                    RECIPE,
                    List.of()))
        .isInstanceOf(ConfigException.class)
        .hasMessageContainingAll("--image", "--memory", "--gpus", "--key-secret");
  }

  private static List<String> strings(Object list) {
    return ((List<?>) list).stream().map(String::valueOf).toList();
  }
}
