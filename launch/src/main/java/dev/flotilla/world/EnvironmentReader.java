package dev.flotilla.world;

import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;

/** Puts a {@link World} together from the variables of one family. */
final class EnvironmentReader {

  private final Map<String, String> environment;
  private final Variables variables;

  EnvironmentReader(Map<String, String> environment) {
    this.environment = environment;
    this.variables = new Variables(environment);
  }

  World read() {
    return RankSource.of(environment).map(this::read).orElseGet(World::solo);
  }

  private World read(RankSource source) {
    OptionalInt size = variables.number(source.size(), 1);
    OptionalInt rank = variables.number(source.rank(), 0);
    checkRank(source, rank, size);
    Optional<Rendezvous> rendezvous = Optional.empty();
    if (size.orElse(2) > 1) {
      rendezvous = new MasterReader(variables, source.kind()).read();
    }
    Optional<World> world = Optional.empty();
    if (!variables.hasProblems()) {
      world = world(source, rank.orElse(0), size.orElseThrow(), rendezvous);
    } else {
      checkSyntax(source);
    }
    return world.orElseThrow(variables::exception);
  }

  private void checkRank(RankSource source, OptionalInt rank, OptionalInt size) {
    String rankName = variables.nameOf(source.rank());
    String sizeName = variables.nameOf(source.size());
    if (!variables.isSet(source.size())) {
      variables.missing(sizeName, "%s is; set both or neither".formatted(rankName));
    }
    if (!variables.isSet(source.rank()) && size.orElse(2) > 1) {
      variables.missing(rankName, "%s is; give each process its own, from 0".formatted(sizeName));
    }
    if (rank.isPresent() && size.isPresent() && rank.getAsInt() >= size.getAsInt()) {
      variables.wrong(rankName, "must be less than %s=%d".formatted(sizeName, size.getAsInt()));
    }
  }

  /** Looks at the remaining numbers when the place cannot be known, so that all is reported. */
  private void checkSyntax(RankSource source) {
    variables.number(source.localRank(), 0);
    variables.number(source.localSize(), 1);
    variables.number(source.nodeRank(), 0);
    variables.number(source.nodes(), 1);
  }

  private Optional<World> world(
      RankSource source, int rank, int size, Optional<Rendezvous> rendezvous) {
    if (size == 1) {
      return Optional.of(World.solo());
    }
    return new PlaceReader(variables, source, rank, size, rendezvous.orElseThrow()).read();
  }
}
