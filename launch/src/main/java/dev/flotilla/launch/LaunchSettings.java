package dev.flotilla.launch;

import dev.flotilla.world.HostPort;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * What to launch on this host, and which part of the job that is.
 *
 * @param processes number of ranks on this host, 1 to 1024; the same on every host
 * @param nodes number of hosts, 1 to 65536
 * @param nodeRank number of this host, 0 to nodes - 1
 * @param masterAddress host of rank 0; needed with several hosts
 * @param masterPort port on that host; on one host a free one is chosen when absent
 * @param hosts all hosts in order of their number, or empty when they are not known
 * @param jobId name of the job
 * @param role name of the ranks' role
 * @param logDir folder for {@code workerlog.N} and {@code endpoints.log}
 * @param grace time between SIGTERM and SIGKILL, at most 7 seconds, so that all ranks end within 10
 * @param policy what to do about failures, hangs and requests to stop
 * @param gpus numbers of the GPUs that the ranks of this host take in turn; empty for all
 * @param backend what carries tensors between GPUs: auto, gloo or nccl; auto when absent
 */
public record LaunchSettings(
    int processes,
    int nodes,
    int nodeRank,
    Optional<String> masterAddress,
    OptionalInt masterPort,
    List<String> hosts,
    String jobId,
    String role,
    Path logDir,
    Duration grace,
    FailurePolicy policy,
    List<Integer> gpus,
    Optional<String> backend) {

  /** Time that ranks have to end after SIGTERM, where nothing else is said. */
  public static final Duration DEFAULT_GRACE = Duration.ofSeconds(5);

  static final int MOST_PROCESSES = 1024;
  static final int MOST_NODES = 65536;
  static final Duration LONGEST_GRACE = Duration.ofSeconds(7);

  /**
   * Checks that the values fit together.
   *
   * @throws LaunchException with every problem
   */
  public LaunchSettings {
    hosts = List.copyOf(hosts);
    gpus = List.copyOf(gpus);
    var problems = new ArrayList<String>();
    require(
        problems,
        processes >= 1 && processes <= MOST_PROCESSES,
        "the number of ranks on this host must be in [1, 1024], but was " + processes);
    require(
        problems,
        nodes >= 1 && nodes <= MOST_NODES,
        "the number of hosts must be in [1, 65536], but was " + nodes);
    require(
        problems,
        nodeRank >= 0 && nodeRank < Math.max(nodes, 1),
        "the number of this host must be in [0, %d), but was %d".formatted(nodes, nodeRank));
    require(
        problems,
        nodes <= 1 || masterAddress.isPresent(),
        "%d hosts need the address of host 0 (--master-addr)".formatted(nodes));
    int port = masterPort.orElse(1);
    require(
        problems,
        port >= 1 && port <= HostPort.LARGEST_PORT,
        "the master's port must be in [1, 65535], but was " + port);
    require(
        problems,
        nodes <= 1 || port < HostPort.LARGEST_PORT,
        "the launchers of several hosts use the port after the master's: give one below 65535");
    require(
        problems,
        hosts.isEmpty() || hosts.size() == nodes,
        "%d hosts are listed, but the number of hosts is %d".formatted(hosts.size(), nodes));
    require(
        problems,
        !grace.isNegative() && grace.compareTo(LONGEST_GRACE) <= 0,
        "the grace period must be in [0, 7] seconds, but was " + grace.toMillis() / 1000.0);
    if (!problems.isEmpty()) {
      throw new LaunchException(problems);
    }
  }

  /** States everything that has nothing to do with GPUs. */
  public LaunchSettings(
      int processes,
      int nodes,
      int nodeRank,
      Optional<String> masterAddress,
      OptionalInt masterPort,
      List<String> hosts,
      String jobId,
      String role,
      Path logDir,
      Duration grace,
      FailurePolicy policy) {
    this(
        processes,
        nodes,
        nodeRank,
        masterAddress,
        masterPort,
        hosts,
        jobId,
        role,
        logDir,
        grace,
        policy,
        List.of(),
        Optional.empty());
  }

  /** Returns the same settings with another time between SIGTERM and SIGKILL. */
  LaunchSettings withGrace(Duration other) {
    return with(logDir, other, policy);
  }

  private static void require(List<String> problems, boolean holds, String problem) {
    if (!holds) {
      problems.add(problem);
    }
  }

  /** Returns the settings of a job that has all its ranks on this host. */
  public static LaunchSettings oneHost(int processes, Path logDir) {
    return new LaunchSettings(
        processes,
        1,
        0,
        Optional.empty(),
        OptionalInt.empty(),
        List.of(),
        "none",
        "default",
        logDir,
        DEFAULT_GRACE,
        FailurePolicy.defaults());
  }

  /** Returns the same settings with another folder for log files. */
  public LaunchSettings withLogDir(Path folder) {
    return with(folder, grace, policy);
  }

  /** Returns the same settings with another policy. */
  public LaunchSettings withPolicy(FailurePolicy other) {
    return with(logDir, grace, other);
  }

  private LaunchSettings with(Path logFolder, Duration gracePeriod, FailurePolicy failurePolicy) {
    return new LaunchSettings(
        processes,
        nodes,
        nodeRank,
        masterAddress,
        masterPort,
        hosts,
        jobId,
        role,
        logFolder,
        gracePeriod,
        failurePolicy,
        gpus,
        backend);
  }

  /** Returns the number of ranks on all hosts. */
  public int worldSize() {
    return processes * nodes;
  }

  boolean isOneHost() {
    return nodes == 1;
  }

  /** Tells whether anything leaves this host, and goes through TLS there. */
  boolean isSecure() {
    return !isOneHost() && policy.secure().isPresent();
  }

  /** Returns the settings by the names of their flags, sorted, for printing. */
  SortedMap<String, String> arguments() {
    var arguments = new TreeMap<String, String>();
    backend.ifPresent(name -> arguments.put("backend", name));
    arguments.put("grace_period", grace.toMillis() / 1000.0 + " s");
    if (!gpus.isEmpty()) {
      arguments.put("gpus", HostGpus.text(gpus));
    }
    arguments.put("ips", hosts.isEmpty() ? "None" : String.join(",", hosts));
    arguments.put("job_id", jobId);
    arguments.put("log_dir", logDir.toString());
    arguments.put("max_restarts", Integer.toString(policy.maxRestarts()));
    arguments.put("stop_grace_period", policy.stopGrace().toMillis() / 1000.0 + " s");
    arguments.put("master_addr", masterAddress.orElse("None"));
    arguments.put("master_port", masterPort.isPresent() ? "" + masterPort.getAsInt() : "None");
    arguments.put("nnodes", Integer.toString(nodes));
    arguments.put("node_rank", Integer.toString(nodeRank));
    arguments.put("nproc_per_node", Integer.toString(processes));
    arguments.put("role", role);
    policy
        .secure()
        .ifPresent(
            it ->
                arguments.put(
                    "secure",
                    isOneHost()
                        ? "nothing leaves this host"
                        : "TLS 1.3, "
                            + it.files()
                                .map(files -> files.certificate().toString())
                                .orElse("certificate made for the job")));
    return arguments;
  }
}
