package dev.flotilla.app.cluster;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The pods of a job for Kubernetes: what runs in them, with which means. */
final class KubernetesPods {

  /** The container's name, and the replicated job's, as Kubeflow wants both. */
  static final String NODE = "node";

  static final String RECIPE_FILE = "recipe.yaml";

  private static final int PORT = 29500;
  private static final String KEY_FILE = "job.key";

  /** What Kubernetes needs to end a pod once its ranks are gone. */
  private static final int GRACE_ON_TOP = 30;

  /** Mode 0400, in the decimal digits that JSON knows. */
  private static final int OWNER_READS = 256;

  private final KubernetesJob job;
  private final boolean isRuntime;

  /**
   * Describes the pods of a job.
   *
   * @param isRuntime whether Kubeflow sets their number, their command and their place
   */
  KubernetesPods(KubernetesJob job, boolean isRuntime) {
    this.job = job;
    this.isRuntime = isRuntime;
  }

  /** Returns what a replicated job of a JobSet is made from. */
  Map<String, Object> jobSpec() {
    var spec = new LinkedHashMap<String, Object>();
    if (!isRuntime) {
      spec.putAll(
          map(
              "completionMode",
              "Indexed",
              "parallelism",
              job.shape().hosts(),
              "completions",
              job.shape().hosts()));
    }
    spec.put("backoffLimit", 0);
    spec.put(
        "podFailurePolicy",
        map(
            "rules",
            List.of(
                map(
                    "action",
                    "FailJob",
                    "onExitCodes",
                    map("containerName", NODE, "operator", "In", "values", List.of(2, 4))))));
    spec.put("template", map("spec", podSpec()));
    return spec;
  }

  private Map<String, Object> podSpec() {
    var spec = new LinkedHashMap<String, Object>();
    spec.put("restartPolicy", "Never");
    spec.put("automountServiceAccountToken", false);
    spec.put("terminationGracePeriodSeconds", job.shape().graceSeconds() + GRACE_ON_TOP);
    spec.put("containers", List.of(container()));
    spec.put(
        "volumes",
        List.of(
            map("name", "recipe", "configMap", map("name", job.recipeName())),
            map(
                "name",
                "key",
                "secret",
                map("secretName", job.keySecret(), "defaultMode", OWNER_READS)),
            map("name", "runs", "persistentVolumeClaim", map("claimName", job.claimName()))));
    return spec;
  }

  private Map<String, Object> container() {
    var container = new LinkedHashMap<String, Object>();
    container.put("name", NODE);
    container.put("image", job.image());
    if (!isRuntime) {
      container.put("command", List.of("flotilla"));
      container.put("args", arguments());
      container.put("ports", List.of(map("containerPort", PORT), map("containerPort", PORT + 1)));
    }
    container.put(
        "env",
        List.of(map("name", "OMP_NUM_THREADS", "value", String.valueOf(job.shape().cpus()))));
    container.put("resources", map("requests", resources(), "limits", resources()));
    container.put("securityContext", map("allowPrivilegeEscalation", false));
    container.put(
        "volumeMounts",
        List.of(
            map("name", "recipe", "mountPath", "/etc/flotilla/recipe", "readOnly", true),
            map("name", "key", "mountPath", "/etc/flotilla/key", "readOnly", true),
            map("name", "runs", "mountPath", "/runs")));
    return container;
  }

  private Map<String, Object> resources() {
    var resources = new LinkedHashMap<String, Object>();
    resources.put("cpu", String.valueOf(job.shape().ranks() * job.shape().cpus()));
    resources.put("memory", job.memory());
    if (job.gpus() > 0) {
      resources.put("nvidia.com/gpu", String.valueOf(job.gpus()));
    }
    return resources;
  }

  /** Returns the arguments of the launcher; where Kubeflow sets PET_ variables, these say more. */
  List<String> arguments() {
    List<String> words = new ArrayList<>(List.of("run"));
    if (!isRuntime) {
      words.addAll(List.of("--nproc", String.valueOf(job.shape().ranks())));
      words.addAll(List.of("--nnodes", String.valueOf(job.shape().hosts())));
      String first = "%s-%s-0-0.%s".formatted(job.shape().name(), NODE, job.shape().name());
      words.addAll(List.of("--master-addr", first, "--master-port", String.valueOf(PORT)));
    }
    words.addAll(List.of("--job-key-file", "/etc/flotilla/key/" + KEY_FILE));
    words.addAll(List.of("--stop-grace-period", String.valueOf(job.shape().graceSeconds())));
    words.addAll(List.of("--max-restarts", String.valueOf(job.shape().maxRestarts())));
    // Every launcher has a first rank: in the run's folder their logs would be one file.
    words.addAll(List.of("--log-dir", "/tmp/flotilla-log"));
    words.add("/etc/flotilla/recipe/" + RECIPE_FILE);
    words.addAll(job.changes());
    words.addAll(List.of("--out", "/runs/" + job.shape().name(), "--resume", "auto"));
    return words;
  }

  /** Returns a map in the order of its keys here. */
  static Map<String, Object> map(Object... keysAndValues) {
    var map = new LinkedHashMap<String, Object>();
    for (int i = 0; i < keysAndValues.length; i += 2) {
      map.put(String.valueOf(keysAndValues[i]), keysAndValues[i + 1]);
    }
    return map;
  }
}
