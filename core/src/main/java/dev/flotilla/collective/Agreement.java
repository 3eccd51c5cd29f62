package dev.flotilla.collective;

import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;

/**
 * Makes sure that all ranks of a group mean the same before they exchange tensors.
 *
 * <p>Gloo compares neither sizes nor types: ranks with different layouts abort or compute nonsense.
 * So ranks compare facts (settings, versions, a hash of the layout) on the keyValueStore first.
 * Every rank puts up its facts, rank 0 reads them and puts up one verdict, and the others read
 * that.
 */
public final class Agreement {

  private static final Duration GRACE = Duration.ofSeconds(1);
  private static final String VERDICT = "verdict";
  private static final String SAME = "same";

  private final KeyValueStore facts;
  private final KeyValueStore answers;
  private final int rank;
  private final int size;
  private final Duration timeout;

  private Agreement(Collective group, Duration timeout) {
    this.facts = group.keyValueStore().section("facts");
    this.answers = group.keyValueStore().section("answers");
    this.rank = group.rank();
    this.size = group.size();
    this.timeout = timeout;
  }

  /**
   * Returns when all ranks have stated the same facts.
   *
   * @param statements fact by name; the order is that of the message
   * @throws AgreementException on every rank, if facts differ or a rank states none in time
   */
  public static void check(Collective group, Map<String, String> statements, Duration timeout) {
    if (group.size() > 1) {
      new Agreement(group, timeout).check(Facts.here(statements));
    }
  }

  private void check(Facts own) {
    facts.set(Arrival.key(rank), own.format());
    var verdict = rank == 0 ? judge() : awaitVerdict();
    if (!verdict.equals(SAME)) {
      throw new AgreementException(verdict);
    }
  }

  private String judge() {
    var arrival = new Arrival(facts, size);
    awaitFacts(arrival);
    var verdict = verdict(arrival);
    answers.set(VERDICT, verdict);
    if (!verdict.equals(SAME)) {
      awaitReaders(arrival);
    }
    return verdict;
  }

  private String verdict(Arrival arrival) {
    var disagreement = new Disagreement(read(arrival));
    if (disagreement.exists()) {
      return "the ranks of this job differ: " + disagreement.describe();
    }
    return arrival.missing().isEmpty() ? SAME : absence(Arrival.name(arrival.missing()));
  }

  /** A difference is told soon: those that come late cannot make it right. */
  private void awaitFacts(Arrival arrival) {
    var deadline = Deadline.in(timeout);
    while (!arrival.look() && !deadline.hasPassed()) {
      if (new Disagreement(read(arrival)).exists()) {
        arrival.await(min(GRACE, deadline.left()));
        return;
      }
      deadline.pause();
    }
  }

  private static Duration min(Duration a, Duration b) {
    return a.compareTo(b) < 0 ? a : b;
  }

  private static Map<Integer, Facts> read(Arrival arrival) {
    var factsByRank = new TreeMap<Integer, Facts>();
    arrival.byRank().forEach((rank, value) -> factsByRank.put(rank, Facts.parse(value)));
    return factsByRank;
  }

  private String absence(String ranks) {
    return "%s did not say within %s with which settings it runs; see its log"
        .formatted(ranks, Deadline.seconds(timeout));
  }

  /** Rank 0 may serve the keyValueStore: it must not go before the others have read. */
  private void awaitReaders(Arrival arrival) {
    answers.set(Arrival.key(rank), "read");
    new Arrival(answers, arrival.byRank().keySet()).await(GRACE);
  }

  private String awaitVerdict() {
    var deadline = Deadline.in(timeout.plus(GRACE));
    var verdict = answers.get(VERDICT);
    while (verdict.isEmpty() && !deadline.hasPassed()) {
      deadline.pause();
      verdict = answers.get(VERDICT);
    }
    answers.set(Arrival.key(rank), "read");
    return verdict.orElseGet(() -> absence("rank 0"));
  }
}
