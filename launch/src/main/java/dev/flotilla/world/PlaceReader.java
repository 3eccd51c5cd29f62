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
  private final int rank;
  private final int size;
  private final Rendezvous rendezvous;
  private OptionalInt localRank;
  private OptionalInt localSize;
  private OptionalInt nodeRank;
  private OptionalInt nodes;

  PlaceReader(Variables variables, RankSource source, int rank, int size, Rendezvous rendezvous) {
    this.variables = variables;
    this.source = source;
    this.rank = rank;
    this.size = size;
    this.rendezvous = rendezvous;
    this.localRank = variables.number(source.localRank(), 0);
    this.localSize = variables.number(source.localSize(), 1);
    this.nodeRank = variables.number(source.nodeRank(), 0);
    this.nodes = variables.number(source.nodes(), 1);
  }

  /** Returns the place; empty when problems were noted. */
  Optional<World> read() {
    if (variables.hasProblems()) {
      return Optional.empty();
    }
    if (isOneHost()) {
      deriveOnOneHost();
    } else {
      deriveOnSeveralHosts();
    }
    requireAll();
    if (!variables.hasProblems()) {
      checkRanges();
    }
    return variables.hasProblems() ? Optional.empty() : Optional.of(world());
  }

  private boolean isOneHost() {
    if (nodes.isPresent()) {
      return nodes.getAsInt() == 1;
    }
    if (localSize.isPresent()) {
      return localSize.getAsInt() == size;
    }
    return !(rendezvous instanceof Rendezvous.Tcp tcp) || HostPort.isLoopback(tcp.host());
  }

  private void deriveOnOneHost() {
    localRank = OptionalInt.of(localRank.orElse(rank));
    localSize = OptionalInt.of(localSize.orElse(size));
    nodeRank = OptionalInt.of(nodeRank.orElse(0));
    nodes = OptionalInt.of(1);
  }

  private void deriveOnSeveralHosts() {
    localSize = localSize.isPresent() ? localSize : derivedLocalSize();
    nodes = nodes.isPresent() ? nodes : quotient(localSize);
    if (localRank.isEmpty() && localSize.orElse(0) == 1) {
      localRank = OptionalInt.of(0);
    }
    nodeRank = nodeRank.isPresent() ? nodeRank : derivedNodeRank();
  }

  private OptionalInt derivedLocalSize() {
    Optional<String> tasks =
        source.kind() == RankSource.Kind.SLURM
            ? variables.text(
                List.of(
                    RankEnvironment.SLURM_STEP_TASKS_PER_NODE,
                    RankEnvironment.SLURM_TASKS_PER_NODE))
            : Optional.empty();
    return tasks.isPresent() && nodeRank.isPresent()
        ? Slurm.tasksOfNode(tasks.get(), nodeRank.getAsInt())
        : quotient(nodes);
  }

  private OptionalInt derivedNodeRank() {
    if (localRank.isEmpty() || localSize.isEmpty()) {
      return OptionalInt.empty();
    }
    int perHost = localSize.getAsInt();
    boolean hostByHost = size % perHost == 0 && rank % perHost == localRank.getAsInt();
    return hostByHost ? OptionalInt.of(rank / perHost) : OptionalInt.empty();
  }

  private OptionalInt quotient(OptionalInt divisor) {
    return divisor.isPresent() && size % divisor.getAsInt() == 0
        ? OptionalInt.of(size / divisor.getAsInt())
        : OptionalInt.empty();
  }

  private void requireAll() {
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

  private void checkRanges() {
    if (nodes.getAsInt() == 1 && localSize.getAsInt() != size) {
      variables.wrong(
          variables.nameOf(source.localSize()),
          "must be %d, the number of ranks, on one host".formatted(size));
      return;
    }
    below(source.localRank(), localRank, localSize.getAsInt(), "the ranks of this host");
    below(source.nodeRank(), nodeRank, nodes.getAsInt(), "the number of hosts");
    atMostSize(source.localSize(), localSize);
    atMostSize(source.nodes(), nodes);
    if (nodes.getAsInt() > 1 && rendezvous instanceof Rendezvous.SharedFile) {
      variables.wrong(
          RankEnvironment.RENDEZVOUS_FILE,
          "serves one host alone; unset it and set MASTER_ADDR for %d hosts"
              .formatted(nodes.getAsInt()));
    }
  }

  private void below(List<String> names, OptionalInt value, int limit, String what) {
    if (value.getAsInt() >= limit) {
      variables.wrong(variables.nameOf(names), "must be less than %d, %s".formatted(limit, what));
    }
  }

  private void atMostSize(List<String> names, OptionalInt value) {
    if (value.getAsInt() > size) {
      variables.wrong(
          variables.nameOf(names), "must be at most %d, the number of ranks".formatted(size));
    }
  }

  private World world() {
    return new World(
        rank,
        size,
        localRank.getAsInt(),
        localSize.getAsInt(),
        nodeRank.getAsInt(),
        nodes.getAsInt(),
        rendezvous);
  }
}
