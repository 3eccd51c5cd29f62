package dev.flotilla.app.cluster;

import dev.flotilla.settings.Check;

/**
 * How large a job is and how it stops, whoever schedules it.
 *
 * @param name name of the job
 * @param hosts number of hosts
 * @param ranks ranks on each host
 * @param cpus cores of each rank
 * @param graceSeconds how long ranks may take to save when they are asked to stop
 * @param maxRestarts how often all ranks start again after a failure
 */
public record JobShape(
    String name, int hosts, int ranks, int cpus, int graceSeconds, int maxRestarts) {

  private static final int MOST_HOSTS = 65536;

  /** Names that Kubernetes takes for what it starts are the shortest and plainest. */
  private static final String NAME = "[a-z]([a-z0-9-]{0,38}[a-z0-9])?";

  /** Checks all values. */
  public JobShape {
    Check.that(
            name.matches(NAME),
            "--name",
            "must be 1 to 40 small letters, digits and dashes, with a letter in front",
            name)
        .and(hosts >= 1 && hosts <= MOST_HOSTS, "--nnodes", "must be from 1 to 65536", hosts)
        .and(ranks >= 1 && ranks <= 1024, "--nproc", "must be from 1 to 1024", ranks)
        .and(cpus >= 1 && cpus <= 1024, "--cpus-per-rank", "must be from 1 to 1024", cpus)
        .and(
            graceSeconds >= 1 && graceSeconds <= 3600,
            "--stop-grace-period",
            "must be from 1 to 3600 seconds",
            graceSeconds)
        .and(maxRestarts >= 0, "--max-restarts", "must be at least 0", maxRestarts)
        .orThrow();
  }

  /** Returns the number of ranks of all hosts. */
  public int worldSize() {
    return hosts * ranks;
  }
}
