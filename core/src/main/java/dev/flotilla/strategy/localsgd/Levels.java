package dev.flotilla.strategy.localsgd;

import dev.flotilla.collective.Collective;
import dev.flotilla.collective.SoloCollective;
import dev.flotilla.collective.Traffic;
import dev.flotilla.memory.NativeView;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.memory.Tensors;
import dev.flotilla.step.StepContext;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;

/**
 * The groups of a rank: who exchanges gradients at every update, and who averages with whom.
 *
 * @param all all ranks
 * @param inside those that hold the same parameters as this rank at all times
 * @param across one rank of each such group, if this rank is one of them; else this rank alone
 * @param replicas number of such groups
 */
record Levels(Collective all, Collective inside, Collective across, int replicas) {

  /** Forms the groups; all ranks call it together. */
  static Levels join(AveragingGroup group, StepContext context) {
    var all = context.collective();
    return group == AveragingGroup.HOST && all.size() > 1
        ? byHost(all, context)
        : new Levels(all, new SoloCollective(), all, all.size());
  }

  /** Returns the same groups, whose operations wait as long as the rounds ask for. */
  Levels with(SyncTimeout timeout) {
    return new Levels(
        new SyncTimeoutGroup(all, timeout),
        new SyncTimeoutGroup(inside, timeout),
        new SyncTimeoutGroup(across, timeout),
        replicas);
  }

  /** Tells whether this rank speaks for those inside. */
  boolean isLeader() {
    return inside.rank() == 0;
  }

  private static Levels byHost(Collective all, StepContext context) {
    var hosts = ranksByHost(all, context.host());
    if (hosts.size() == 1) {
      context.notices().accept("group: host has no effect on one host: gradients are exchanged");
      return new Levels(all, all, new SoloCollective(), 1);
    }
    Collective inside = new SoloCollective();
    for (var ranks : hosts) {
      var group = all.subgroup(ranks.stream().mapToInt(Integer::intValue).toArray());
      inside = ranks.contains(all.rank()) ? group : inside;
    }
    var across = all.subgroup(hosts.stream().mapToInt(List::getFirst).toArray());
    return new Levels(all, inside, across, hosts.size());
  }

  private static List<List<Integer>> ranksByHost(Collective all, int host) {
    var ranks = new TreeMap<Long, List<Integer>>();
    try (var _ = TensorScope.open()) {
      var hosts = Tensors.ofLongs(new long[all.size()]);
      all.allGather(hosts, Tensors.ofLongs(host), Traffic.START).await();
      var view = NativeView.of(hosts);
      for (int rank = 0; rank < all.size(); rank++) {
        long of = view.getAtIndex(ValueLayout.JAVA_LONG, rank);
        ranks.computeIfAbsent(of, _ -> new ArrayList<>()).add(rank);
      }
    }
    return List.copyOf(ranks.values());
  }
}
