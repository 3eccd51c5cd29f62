package dev.flotilla.app.cluster;

import static dev.flotilla.app.cluster.KubernetesPods.map;

import dev.flotilla.settings.Check;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * Writes a job for Kubernetes: one pod per host, in it a launcher with its ranks.
 *
 * <p>The job's key is a secret that the files name and never hold. A pod that is told to go saves
 * within its grace period; whatever is started again goes on from the newest checkpoint.
 *
 * @param shape how large the job is
 * @param image container image with the command {@code flotilla}
 * @param memory memory of a pod
 * @param gpus GPUs of a pod
 * @param storage size of the volume for runs
 * @param keySecret name of the secret with the job's key
 * @param recipe text of the recipe
 * @param changes changes of the recipe, as arguments
 */
public record KubernetesJob(
    JobShape shape,
    String image,
    String memory,
    int gpus,
    String storage,
    String keySecret,
    String recipe,
    List<String> changes) {

  private static final String QUANTITY = "[1-9]\\d{0,8}([KMGTP]i?|m|)";

  /** Checks all values. */
  public KubernetesJob {
    changes = List.copyOf(changes);
    Check.that(image.matches("[\\w][\\w./:@-]{0,254}"), "--image", "must name an image", image)
        .and(memory.matches(QUANTITY), "--memory", "must be a size such as 4Gi", memory)
        .and(storage.matches(QUANTITY), "--storage", "must be a size such as 10Gi", storage)
        .and(gpus >= 0 && gpus <= 64, "--gpus", "must be from 0 to 64", gpus)
        .and(
            keySecret.matches("[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?"),
            "--key-secret",
            "must be the name of a secret, in small letters, digits, dashes and points",
            keySecret)
        .orThrow();
  }

  /** Returns the files of a JobSet. */
  public String jobSet() {
    return text(
        "JobSet (jobset.x-k8s.io)",
        List.of(
            recipeMap(),
            claim(),
            object("jobset.x-k8s.io/v1alpha2", "JobSet", shape.name(), jobSetSpec(false))));
  }

  /** Returns the files of a TrainJob of Kubeflow, with the TrainingRuntime that it refers to. */
  public String trainJob() {
    var trainer =
        map(
            "numNodes",
            shape.hosts(),
            "numProcPerNode",
            shape.ranks(),
            "command",
            List.of("flotilla"),
            "args",
            new KubernetesPods(this, true).arguments());
    var runtime = shape.name() + "-runtime";
    var reference =
        map("apiGroup", "trainer.kubeflow.org", "kind", "TrainingRuntime", "name", runtime);
    return text(
        "TrainJob (trainer.kubeflow.org)",
        List.of(
            recipeMap(),
            claim(),
            object(
                "trainer.kubeflow.org/v1alpha1",
                "TrainingRuntime",
                runtime,
                map(
                    "mlPolicy",
                    map("numNodes", shape.hosts(), "torch", map()),
                    "template",
                    map("spec", jobSetSpec(true)))),
            object(
                "trainer.kubeflow.org/v1alpha1",
                "TrainJob",
                shape.name(),
                map("runtimeRef", reference, "trainer", trainer))));
  }

  private String text(String what, List<Map<String, Object>> documents) {
    String head =
        """
        # %s, written by flotilla export kubernetes: kubectl apply -f FILE
        # The key by which launchers know each other is a secret of yours, made once, from a file that you then remove:
        #   openssl rand -hex 32 > job.key
        #   kubectl create secret generic %s --from-file=job.key
        """
            .formatted(what, keySecret);
    return documents.stream()
        .map(YamlText::of)
        .collect(Collectors.joining("---\n", head + "---\n", ""));
  }

  private Map<String, Object> recipeMap() {
    var object = new LinkedHashMap<String, Object>();
    object.putAll(map("apiVersion", "v1", "kind", "ConfigMap"));
    object.put("metadata", map("name", recipeName()));
    object.put(
        "data", map(KubernetesPods.RECIPE_FILE, recipe.endsWith("\n") ? recipe : recipe + "\n"));
    return object;
  }

  private Map<String, Object> claim() {
    String mode = shape.hosts() > 1 ? "ReadWriteMany" : "ReadWriteOnce";
    return object(
        "v1",
        "PersistentVolumeClaim",
        claimName(),
        map("accessModes", List.of(mode), "resources", map("requests", map("storage", storage))));
  }

  private Map<String, Object> jobSetSpec(boolean isRuntime) {
    var job = new LinkedHashMap<String, Object>();
    job.put("name", KubernetesPods.NODE);
    var template = new LinkedHashMap<String, Object>();
    if (isRuntime) { // Kubeflow sets the number of pods and the network itself
      template.put(
          "metadata", map("labels", map("trainer.kubeflow.org/trainjob-ancestor-step", "trainer")));
    } else {
      job.put("replicas", 1);
    }
    template.put("spec", new KubernetesPods(this, isRuntime).jobSpec());
    job.put("template", template);
    var spec = new LinkedHashMap<String, Object>();
    if (!isRuntime) {
      spec.put(
          "network",
          map(
              "enableDNSHostnames",
              true,
              "subdomain",
              shape.name(),
              "publishNotReadyAddresses",
              true));
    }
    spec.put("failurePolicy", failurePolicy());
    spec.put("replicatedJobs", List.of(job));
    return spec;
  }

  /** A wrong recipe stays wrong however often it is tried. */
  private Map<String, Object> failurePolicy() {
    return map(
        "maxRestarts",
        shape.maxRestarts(),
        "rules",
        List.of(
            map(
                "name",
                "wrongUsage",
                "action",
                "FailJobSet",
                "onJobFailureReasons",
                List.of("PodFailurePolicy"))));
  }

  String recipeName() {
    return shape.name() + "-recipe";
  }

  String claimName() {
    return shape.name() + "-runs";
  }

  private static Map<String, Object> object(
      String version, String kind, String name, Map<String, Object> spec) {
    return map("apiVersion", version, "kind", kind, "metadata", map("name", name), "spec", spec);
  }
}
