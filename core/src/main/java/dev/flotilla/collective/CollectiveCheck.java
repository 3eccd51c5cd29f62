package dev.flotilla.collective;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * Compares what all ranks of a group are about to do, before they do it.
 *
 * <p>Gloo compares nothing: ranks that call different operations abort, wait for each other for
 * ever, or compute nonsense. The comparison is the same for every operation, so that it is safe
 * where the operations are not; it costs a message to and from every other rank.
 */
final class CollectiveCheck {

  private static final int LONGEST = 128;

  private final NativeGroup group;
  private final int rank;
  private final int most;
  private long count;

  /**
   * Makes a check.
   *
   * @param most how many operations are compared
   */
  CollectiveCheck(NativeGroup group, int rank, int most) {
    this.group = group;
    this.rank = rank;
    this.most = most;
  }

  /** Compares an operation, unless there were enough. */
  void inspect(Operation operation) {
    if (count < most) {
      compare(operation.signature(), operation.timeout());
    }
  }

  /**
   * Returns when all ranks are about to do the same.
   *
   * @param what the operation with everything that must be the same on all ranks
   * @throws AgreementException on every rank, if one is about to do something else
   * @throws RuntimeException if a rank does not say in time what it is about to do
   */
  void compare(String what, Duration timeout) {
    count++;
    byte[] own = Arrays.copyOf(what.getBytes(StandardCharsets.UTF_8), LONGEST);
    Map<Integer, byte[]> others = swapped(own, timeout);
    if (others.values().stream().allMatch(it -> Arrays.equals(it, own))) {
      return;
    }
    others.put(rank, own);
    throw new AgreementException(
        "collective %d differs between ranks: %s; all ranks must call the same ones in the same order"
            .formatted(
                count,
                others.entrySet().stream()
                    .map(it -> "rank %d calls %s".formatted(it.getKey(), text(it.getValue())))
                    .collect(Collectors.joining(", "))));
  }

  /** Numbers are its own, so that ranks find each other whatever else they are about to send. */
  private Map<Integer, byte[]> swapped(byte[] own, Duration timeout) {
    int tag = NativeGroup.FIRST_TAG_OF_CHECKS + (int) (count % NativeGroup.FIRST_TAG_OF_CHECKS);
    return new PairExchange(group, rank, LONGEST).swap(_ -> own, () -> tag, timeout);
  }

  private static String text(byte[] bytes) {
    return new String(bytes, StandardCharsets.UTF_8).replace("\0", "");
  }
}
