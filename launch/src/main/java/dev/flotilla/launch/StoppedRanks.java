package dev.flotilla.launch;

import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Notices ranks that somebody has stopped with SIGSTOP, and says so once for each. */
final class StoppedRanks {

  private final int patience;
  private final Console console;
  private final Map<Long, Integer> seen = new HashMap<>();
  private final Set<Long> named = new HashSet<>();

  /**
   * Creates a watch.
   *
   * @param patience how many looks in a row must find a rank stopped before it is named; looks, not
   *     time, as this process may have been stopped together with its ranks
   */
  StoppedRanks(int patience, Console console) {
    this.patience = patience;
    this.console = console;
  }

  void look(List<RankProcess> living) {
    for (RankProcess rank : living) {
      int looks = rank.isStopped() ? seen.merge(rank.pid(), 1, Integer::sum) : forget(rank);
      if (looks == patience && named.add(rank.pid())) {
        console.say(
            "%s is stopped (SIGSTOP); the others will wait for it in vain (kill -CONT %d)"
                .formatted(rank.label(), rank.pid()));
      }
    }
  }

  private int forget(RankProcess rank) {
    seen.remove(rank.pid());
    return 0;
  }
}
