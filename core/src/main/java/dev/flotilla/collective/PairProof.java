package dev.flotilla.collective;

import static java.util.Objects.requireNonNull;

import dev.flotilla.control.Bits256;
import dev.flotilla.control.JobKey;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.function.IntFunction;
import java.util.stream.Collectors;

/**
 * Proves over every connection of a group that a rank of this job is at its other end.
 *
 * <p>Gloo takes whoever connects first for a rank. So each pair exchanges random numbers over its
 * connection, then HMAC-SHA-256 over the group's name, both ranks and both numbers, with a key that
 * only ranks of this attempt have. A stranger in between can make this fail, and nothing else.
 */
final class PairProof {

  /** Longest wait for the other end. */
  static final Duration TAKES = Duration.ofSeconds(5);

  private static final int LENGTH = 32;

  private final NativeGroup group;
  private final String name;
  private final int rank;
  private final JobKey key;
  private final Duration limit;

  private PairProof(NativeGroup group, String name, int rank, JobKey key, Duration limit) {
    this.group = group;
    this.name = name;
    this.rank = rank;
    this.key = key;
    this.limit = limit;
  }

  /** Returns why a connection is not proved; the empty text if all are. */
  static String problem(NativeGroup group, String name, int rank, JobKey key, Duration limit) {
    try {
      return new PairProof(group, name, rank, key, limit).problem();
    } catch (RuntimeException e) {
      return "no proof came within %s (%s)"
          .formatted(Deadline.seconds(limit), NativeText.firstLine(e));
    }
  }

  private String problem() {
    var own = new HashMap<Integer, Bits256>();
    Map<Integer, Bits256> theirs =
        exchange(peer -> own.computeIfAbsent(peer, _ -> Bits256.random()));
    Map<Integer, Bits256> proofs =
        exchange(peer -> proof(rank, peer, of(peer, own), of(peer, theirs)));
    return proofs.entrySet().stream()
        .filter(it -> !isProved(it.getKey(), it.getValue(), own, theirs))
        .map(
            it -> "what is connected as rank %d does not know the job's key".formatted(it.getKey()))
        .collect(Collectors.joining(", "));
  }

  private boolean isProved(
      int peer, Bits256 proof, Map<Integer, Bits256> own, Map<Integer, Bits256> theirs) {
    return proof(peer, rank, of(peer, theirs), of(peer, own)).matches(proof);
  }

  private static Bits256 of(int peer, Map<Integer, Bits256> numbers) {
    return requireNonNull(numbers.get(peer));
  }

  private Bits256 proof(int from, int to, Bits256 fromNonce, Bits256 toNonce) {
    return key.prove("pair %s %d %d %s %s".formatted(name, from, to, fromNonce, toNonce));
  }

  private Map<Integer, Bits256> exchange(IntFunction<Bits256> valueFor) {
    var values = new HashMap<Integer, Bits256>();
    new PairExchange(group, rank, LENGTH)
        .swap(peer -> valueFor.apply(peer).bytes(), limit)
        .forEach((peer, bytes) -> values.put(peer, Bits256.of(bytes)));
    return values;
  }
}
