package dev.flotilla.world;

import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * Finds a rank's place among hosts, given its rank and the number of ranks.
 *
 * <p>What is not set is derived where only one answer fits; ranks are taken to be numbered host by
 * host, and anything else is a problem, never a guess.
 */
final class PlaceReader {

  private final Variables variables;
  private final RankSource source;

  PlaceReader(Variables variables, RankSource source) {
    this.variables = variables;
    this.source = source;
  }

  Optional<World> read(int rank, int size, Rendezvous rendezvous) {
    OptionalInt localRank = variables.number(source.localRank(), 0);
    OptionalInt localSize = variables.number(source.localSize(), 1);
    OptionalInt nodeRank = variables.number(source.nodeRank(), 0);
    OptionalInt nodes = variables.number(source.nodes(), 1);
    if (variables.hasProblems()) {
      return Optional.empty();
    }
    if (isOneHost(size, localSize, nodes, rendezvous)) {
      localRank = OptionalInt.of(localRank.orElse(rank));
      localSize = OptionalInt.of(localSize.orElse(size));
      nodeRank = OptionalInt.of(nodeRank.orElse(0));
      nodes = OptionalInt.of(nodes.orElse(1));
    } else {
      localSize = orElse(localSize, localSizeOf(size, nodeRank, nodes));
      nodes = orElse(nodes, nodesOf(size, localSize));
      localRank = orElse(localRank, onlyRankOfHost(localSize));
      nodeRank = orElse(nodeRank, nodeRankOf(rank, size, localRank, localSize));
    }
    requireAll(localRank, localSize, nodeRank, nodes);
    return variables.hasProblems()
        ? Optional.empty()
        : checked(
            rank,
            size,
            localRank.orElseThrow(),
            localSize.orElseThrow(),
            nodeRank.orElseThrow(),
            nodes.orElseThrow(),
            rendezvous);
  }

  private static boolean isOneHost(
      int size, OptionalInt localSize, OptionalInt nodes, Rendezvous rendezvous) {
    if (nodes.isPresent()) {
      return nodes.getAsInt() == 1;
    }
    if (localSize.isPresent()) {
      return localSize.getAsInt() == size;
    }
    return !(rendezvous instanceof Rendezvous.Tcp tcp) || HostPort.isLoopback(tcp.host());
  }

  private OptionalInt localSizeOf(int size, OptionalInt nodeRank, OptionalInt nodes) {
    Optional<String> tasks =
        source.kind() == RankSource.Kind.SLURM
            ? variables.text(
                List.of(
                    RankEnvironment.SLURM_STEP_TASKS_PER_NODE,
                    RankEnvironment.SLURM_TASKS_PER_NODE))
            : Optional.empty();
    if (tasks.isPresent() && nodeRank.isPresent()) {
      return Slurm.tasksOfNode(tasks.get(), nodeRank.getAsInt());
    }
    return nodes.isPresent() ? quotient(size, nodes.getAsInt()) : OptionalInt.empty();
  }

  private static OptionalInt nodesOf(int size, OptionalInt localSize) {
    return localSize.isPresent() ? quotient(size, localSize.getAsInt()) : OptionalInt.empty();
  }

  private static OptionalInt onlyRankOfHost(OptionalInt localSize) {
    return localSize.orElse(0) == 1 ? OptionalInt.of(0) : OptionalInt.empty();
  }

  private static OptionalInt nodeRankOf(
      int rank, int size, OptionalInt localRank, OptionalInt localSize) {
    if (localRank.isEmpty() || localSize.isEmpty()) {
      return OptionalInt.empty();
    }
    boolean hostByHost =
        size % localSize.getAsInt() == 0 && rank % localSize.getAsInt() == localRank.getAsInt();
    return hostByHost ? OptionalInt.of(rank / localSize.getAsInt()) : OptionalInt.empty();
  }

  private static OptionalInt quotient(int size, int divisor) {
    return size % divisor == 0 ? OptionalInt.of(size / divisor) : OptionalInt.empty();
  }

  private static OptionalInt orElse(OptionalInt first, OptionalInt second) {
    return first.isPresent() ? first : second;
  }

  private void requireAll(
      OptionalInt localRank, OptionalInt localSize, OptionalInt nodeRank, OptionalInt nodes) {
    require(
        localRank,
        RankEnvironment.LOCAL_RANK,
        "the ranks are on several hosts; set it to the number of this process on its host");
    require(
        localSize,
        RankEnvironment.LOCAL_WORLD_SIZE,
        "the ranks are on several hosts; set it to the number of ranks on this host");
    if (localSize.isPresent()) {
      require(
          nodes,
          RankEnvironment.GROUP_WORLD_SIZE,
          "hosts hold unequal numbers of ranks; set it to the number of hosts");
    }
    if (localRank.isPresent() && localSize.isPresent()) {
      require(
          nodeRank,
          RankEnvironment.GROUP_RANK,
          "ranks are not numbered host by host; set it to the number of this host");
    }
  }

  private void require(OptionalInt value, String name, String why) {
    if (value.isEmpty()) {
      variables.missing(name, why);
    }
  }

  private Optional<World> checked(
      int rank,
      int size,
      int localRank,
      int localSize,
      int nodeRank,
      int nodes,
      Rendezvous rendezvous) {
    if (nodes == 1 && localSize != size) {
      variables.wrong(
          variables.nameOf(source.localSize()),
          "must be %d, the number of ranks, on one host".formatted(size));
      return Optional.empty();
    }
    below(source.localRank(), localRank, localSize, "the ranks of this host");
    below(source.nodeRank(), nodeRank, nodes, "the number of hosts");
    atMost(source.localSize(), localSize, size);
    atMost(source.nodes(), nodes, size);
    if (nodes > 1 && rendezvous instanceof Rendezvous.SharedFile) {
      variables.wrong(
          RankEnvironment.RENDEZVOUS_FILE,
          "serves one host alone; unset it and set MASTER_ADDR for %d hosts".formatted(nodes));
    }
    return variables.hasProblems()
        ? Optional.empty()
        : Optional.of(new World(rank, size, localRank, localSize, nodeRank, nodes, rendezvous));
  }

  private void below(List<String> names, int value, int limit, String what) {
    if (value >= limit) {
      variables.wrong(variables.nameOf(names), "must be less than %d, %s".formatted(limit, what));
    }
  }

  private void atMost(List<String> names, int value, int limit) {
    if (value > limit) {
      variables.wrong(
          variables.nameOf(names), "must be at most %d, the number of ranks".formatted(limit));
    }
  }
}
