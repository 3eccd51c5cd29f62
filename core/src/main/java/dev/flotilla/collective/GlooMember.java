package dev.flotilla.collective;

import dev.flotilla.world.RankEnvironment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** One rank's part in a group: all that the views of the group share. */
final class GlooMember implements AutoCloseable {

  private final Membership membership;
  private final String name;
  private final int rank;
  private final NativeGroup group;
  private final TrafficLedger ledger;
  private final KeyValueStore keyValueStore;
  private final Sections sections = new Sections();
  private final Map<Duration, NativeOptions> options = new HashMap<>();
  private final List<GlooMember> subgroups = new ArrayList<>();

  /** Connects the ranks of a roster, all of which must have met. */
  GlooMember(Membership membership, String name, Roster roster, int rank, TrafficLedger ledger) {
    this.membership = membership;
    this.name = name;
    this.rank = rank;
    this.ledger = ledger;
    this.keyValueStore = membership.store().prefixed(name + "/store/");
    this.group = membership.form(name, roster, rank);
    int most = RankEnvironment.checksCollectives() ? Integer.MAX_VALUE : CollectiveCheck.FIRST;
    var check = new CollectiveCheck(group, rank, most);
    // Who is compared with others waits for them, which says who of them is slow.
    group.inspect(operation -> ledger.timed(() -> check.inspect(operation)).await());
  }

  int rank() {
    return rank;
  }

  int size() {
    return group.roster().size();
  }

  NativeGroup group() {
    return group;
  }

  TrafficLedger ledger() {
    return ledger;
  }

  KeyValueStore keyValueStore() {
    return keyValueStore;
  }

  Duration timeout() {
    return membership.settings().timeout();
  }

  /** Returns a timeout that was checked as the setting is. */
  Duration checked(Duration timeout) {
    return membership.settings().withTimeout(timeout).timeout();
  }

  NativeOptions optionsFor(Duration timeout) {
    return options.computeIfAbsent(timeout, NativeOptions::new);
  }

  /** Forms a group of some ranks of this one; those that are not in the list stay alone. */
  Collective subgroup(int[] ranks) {
    SubgroupChecks.check(ranks, size());
    var subgroupName = name + "/" + sections.next("subgroup");
    int place = SubgroupChecks.place(ranks, rank);
    return place < 0 || ranks.length == 1
        ? new SoloCollective()
        : new GlooCollective(formed(subgroupName, ranks, place));
  }

  private GlooMember formed(String subgroupName, int[] ranks, int place) {
    membership.meet(subgroupName, group.roster().self(), place, ranks.length);
    var roster = group.roster().of(ranks, place);
    var ledgerOfBoth = new TrafficLedger(ledger);
    var subgroup = new GlooMember(membership, subgroupName, roster, place, ledgerOfBoth);
    subgroups.add(subgroup);
    return subgroup;
  }

  /** Ends subgroups first, then the group; the first complaint is thrown when all is closed. */
  @Override
  public void close() {
    var closing = new Closing();
    subgroups.forEach(subgroup -> closing.close(subgroup::close));
    closing.close(group::close);
    options.values().forEach(NativeOptions::close);
    options.clear();
    closing.rethrow();
  }
}
