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
   */
  public int threads(Map<String, String> environment, int cores) {
    var stated = environment.getOrDefault(RankEnvironment.OMP_NUM_THREADS, "");
    return stated.matches("[1-9][0-9]{0,3}")
        ? Integer.parseInt(stated)
        : Math.max(1, cores / localSize);
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
