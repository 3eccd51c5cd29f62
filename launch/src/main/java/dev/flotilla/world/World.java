package dev.flotilla.world;

import java.util.Map;

/**
 * The place of this process among all processes of a job.
 *
 * @param rank number of this process, 0 to size - 1
 * @param size number of processes of the job
 * @param localRank number of this process among those on its host
 * @param localSize number of the job's processes on this host
 * @param nodeRank number of this host, 0 to nodes - 1
 * @param nodes number of hosts
 * @param rendezvous where the ranks meet
 */
public record World(
    int rank,
    int size,
    int localRank,
    int localSize,
    int nodeRank,
    int nodes,
    Rendezvous rendezvous) {

  /** Checks that the numbers fit together. */
  public World {
    if (size < 1 || rank < 0 || rank >= size) {
      throw new IllegalArgumentException(
          "rank must be in [0, %d), but was %d".formatted(size, rank));
    }
    if (localSize < 1 || localRank < 0 || localRank >= localSize) {
      throw new IllegalArgumentException(
          "local rank must be in [0, %d), but was %d".formatted(localSize, localRank));
    }
    if (nodes < 1 || nodeRank < 0 || nodeRank >= nodes) {
      throw new IllegalArgumentException(
          "node rank must be in [0, %d), but was %d".formatted(nodes, nodeRank));
    }
    if (size > 1 && rendezvous instanceof Rendezvous.None) {
      throw new IllegalArgumentException("a world of several ranks needs a meeting point");
    }
  }

  /** Returns the world of a process that trains alone. */
  public static World solo() {
    return new World(0, 1, 0, 1, 0, 1, new Rendezvous.None());
  }

  /**
   * Reads this process's place from its environment; a process without any is {@link #solo()}.
   *
   * @throws WorldException if the variables contradict each other or one of them is missing
   */
  public static World join() {
    return join(System.getenv());
  }

  /** Reads this process's place from the given environment. */
  public static World join(Map<String, String> environment) {
    return RankEnvironment.read(environment);
  }

  /**
   * Returns how many threads an operation of this rank uses: OMP_NUM_THREADS where it is set, or
   * else the cores divided by the ranks of this host.
   *
   * @throws WorldException if OMP_NUM_THREADS is not a number of threads
   */
  public int threads(Map<String, String> environment, int cores) {
    var stated = environment.getOrDefault(RankEnvironment.OMP_NUM_THREADS, "").strip();
    if (stated.isEmpty()) {
      return Math.max(1, cores / localSize);
    }
    // OpenMP takes a list too, for regions inside of regions; the first number is the one here.
    var first = stated.split(",", 2)[0].strip();
    if (!first.matches("0*[1-9][0-9]{0,2}|0*10[01][0-9]|0*102[0-4]")) {
      throw new WorldException(
          "%s must be a whole number from 1 to 1024, but was '%s': set it so, or unset it"
              .formatted(RankEnvironment.OMP_NUM_THREADS, stated));
    }
    return Integer.parseInt(first);
  }

  /** Tells whether this process trains alone. */
  public boolean isSolo() {
    return size == 1;
  }

  /** Tells whether this is rank 0, which writes what exists once per job. */
  public boolean isLeader() {
    return rank == 0;
  }

  /** Tells whether all ranks share one host. */
  public boolean isOneHost() {
    return nodes == 1;
  }
}
