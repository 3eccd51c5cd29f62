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
 * where the operations are not. It is done for the first operations of a group, where most mistakes
 * show, and for all of them on request.
 *
 * <p>It costs log2 of the number of ranks short messages: in each round a rank passes on the least
 * and the greatest of what it knows, in the order of their bytes, to a rank twice as far away as in
 * the round before, so that in the end all know both. Where these are the same, all ranks do the
 * same; where not, each tells each other rank.
 */
final class CollectiveCheck {

  /**
   * What is compared without being asked for: where ranks run different programs, the first show
   * it.
   */
  static final int FIRST = 32;

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
    if (isSame(own, timeout)) {
      return;
    }
    var exchange = new PairExchange(group, rank, LONGEST);
    Map<Integer, byte[]> others = exchange.swap(_ -> own, () -> tag(count + 1), timeout);
    others.put(rank, own);
    throw new AgreementException(
        "collective %d differs between ranks: %s; all ranks must call the same ones in the same order"
            .formatted(
                count,
                others.entrySet().stream()
                    .map(it -> "rank %d calls %s".formatted(it.getKey(), text(it.getValue())))
                    .collect(Collectors.joining(", "))));
  }

  private boolean isSame(byte[] own, Duration timeout) {
    var exchange = new PairExchange(group, rank, 2 * LONGEST);
    byte[] least = own;
    byte[] greatest = own;
    for (int away = 1; away < group.roster().size(); away *= 2) {
      byte[] both = Arrays.copyOf(least, 2 * LONGEST);
      System.arraycopy(greatest, 0, both, LONGEST, LONGEST);
      byte[] other = exchange.pass(both, away, tag(count), timeout);
      least = lesser(least, Arrays.copyOf(other, LONGEST));
      greatest = greater(greatest, Arrays.copyOfRange(other, LONGEST, 2 * LONGEST));
    }
    return Arrays.equals(least, greatest);
  }

  private static byte[] lesser(byte[] a, byte[] b) {
    return Arrays.compare(a, b) <= 0 ? a : b;
  }

  private static byte[] greater(byte[] a, byte[] b) {
    return Arrays.compare(a, b) >= 0 ? a : b;
  }

  /** Numbers are its own, so that ranks find each other whatever else they are about to send. */
  private static int tag(long number) {
    return NativeGroup.FIRST_TAG_OF_CHECKS + (int) (number % NativeGroup.FIRST_TAG_OF_CHECKS);
  }

  private static String text(byte[] bytes) {
    return new String(bytes, StandardCharsets.UTF_8).replace("\0", "");
  }
}
