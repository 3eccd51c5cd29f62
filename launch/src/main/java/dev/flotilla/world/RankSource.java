package dev.flotilla.world;

import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A family of variable names under which a launcher or scheduler tells a process its place.
 *
 * <p>Each field lists names that mean the same, the preferred one first.
 */
record RankSource(
    Kind kind,
    List<String> rank,
    List<String> size,
    List<String> localRank,
    List<String> localSize,
    List<String> nodeRank,
    List<String> nodes) {

  /** Who sets the variables. */
  enum Kind {
    TORCH,
    PADDLE,
    SLURM,
    OPEN_MPI,
    PMI
  }

  /**
   * All families, the most deliberate first.
   *
   * <p>Open MPI's NODE_RANK is absent on purpose: it numbers the processes of a host, not hosts.
   */
  private static final List<RankSource> IN_ORDER =
      List.of(
          new RankSource(
              Kind.TORCH,
              List.of(RankEnvironment.RANK),
              List.of(RankEnvironment.WORLD_SIZE),
              List.of(RankEnvironment.LOCAL_RANK),
              List.of(RankEnvironment.LOCAL_WORLD_SIZE),
              List.of(RankEnvironment.GROUP_RANK),
              List.of(RankEnvironment.GROUP_WORLD_SIZE)),
          new RankSource(
              Kind.PADDLE,
              List.of(RankEnvironment.PADDLE_TRAINER_ID, RankEnvironment.PADDLE_GLOBAL_RANK),
              List.of(RankEnvironment.PADDLE_TRAINERS_NUM, RankEnvironment.PADDLE_GLOBAL_SIZE),
              List.of(
                  RankEnvironment.LOCAL_RANK,
                  RankEnvironment.PADDLE_RANK_IN_NODE,
                  RankEnvironment.PADDLE_LOCAL_RANK),
              List.of(RankEnvironment.LOCAL_WORLD_SIZE, RankEnvironment.PADDLE_LOCAL_SIZE),
              List.of(RankEnvironment.GROUP_RANK),
              List.of(RankEnvironment.GROUP_WORLD_SIZE, RankEnvironment.PADDLE_NNODES)),
          new RankSource(
              Kind.SLURM,
              List.of(RankEnvironment.SLURM_PROCID),
              List.of(RankEnvironment.SLURM_NTASKS),
              List.of(RankEnvironment.LOCAL_RANK, RankEnvironment.SLURM_LOCALID),
              List.of(RankEnvironment.LOCAL_WORLD_SIZE),
              List.of(RankEnvironment.GROUP_RANK, RankEnvironment.SLURM_NODEID),
              List.of(
                  RankEnvironment.GROUP_WORLD_SIZE,
                  RankEnvironment.SLURM_STEP_NUM_NODES,
                  RankEnvironment.SLURM_NNODES,
                  RankEnvironment.SLURM_JOB_NUM_NODES)),
          new RankSource(
              Kind.OPEN_MPI,
              List.of(RankEnvironment.OMPI_RANK),
              List.of(RankEnvironment.OMPI_SIZE),
              List.of(RankEnvironment.LOCAL_RANK, RankEnvironment.OMPI_LOCAL_RANK),
              List.of(RankEnvironment.LOCAL_WORLD_SIZE, RankEnvironment.OMPI_LOCAL_SIZE),
              List.of(RankEnvironment.GROUP_RANK),
              List.of(RankEnvironment.GROUP_WORLD_SIZE)),
          new RankSource(
              Kind.PMI,
              List.of(RankEnvironment.PMI_RANK),
              List.of(RankEnvironment.PMI_SIZE),
              List.of(RankEnvironment.LOCAL_RANK, RankEnvironment.MPI_LOCALRANKID),
              List.of(RankEnvironment.LOCAL_WORLD_SIZE, RankEnvironment.MPI_LOCALNRANKS),
              List.of(RankEnvironment.GROUP_RANK),
              List.of(RankEnvironment.GROUP_WORLD_SIZE)));

  /** Returns the first family of which the environment holds a rank or a number of ranks. */
  static Optional<RankSource> of(Map<String, String> environment) {
    return IN_ORDER.stream().filter(source -> source.speaksIn(environment)).findFirst();
  }

  private boolean speaksIn(Map<String, String> environment) {
    boolean present =
        rank.stream().anyMatch(environment::containsKey)
            || size.stream().anyMatch(environment::containsKey);
    return present && !(kind == Kind.SLURM && isInteractive(environment));
  }

  /** In an interactive Slurm shell the variables describe the allocation, not this process. */
  private static boolean isInteractive(Map<String, String> environment) {
    String job = environment.getOrDefault(RankEnvironment.SLURM_JOB_NAME, "");
    return job.equals("bash") || job.equals("interactive");
  }
}
