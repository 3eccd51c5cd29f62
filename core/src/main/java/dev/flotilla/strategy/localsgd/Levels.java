package dev.flotilla.strategy.localsgd;

import dev.flotilla.collective.Collective;
import dev.flotilla.collective.Reduction;
import dev.flotilla.collective.SoloCollective;
import dev.flotilla.collective.Traffic;
import dev.flotilla.memory.NativeView;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.memory.Tensors;
import dev.flotilla.settings.ConfigException;
import dev.flotilla.step.StepContext;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.function.Consumer;

/**
 * The groups of a rank: who exchanges gradients at every update, and who averages with whom.
 *
 * <p>Where the ranks of a host all update all parameters, one of them averages with those of other
 * hosts, and tells the rest. Where each updates slices, it averages these with the ranks of other
 * hosts that update the same ones.
 *
 * @param all all ranks
 * @param inside those that hold the same parameters as this rank at all times
 * @param told those whom the first of them tells the average: all inside, or this rank alone
 * @param across one rank of each group inside, if this rank is one of them; else this rank alone
 * @param replicas number of groups inside
 * @param replica number of this rank's
 */
record Levels(
    Collective all,
    Collective inside,
    Collective told,
    Collective across,
    int replicas,
    int replica) {

  /** Forms the group inside; all ranks call it together. */
  static Collective peers(
      AveragingGroup group, Collective all, int host, Consumer<String> notices) {
    if (group == AveragingGroup.RANK) {
      return new SoloCollective();
    }
    if (all.size() == 1) {
      return all;
    }
    var hosts = ranksByHost(all, host);
    if (hosts.size() == 1) {
      notices.accept("group: host has no effect on one host: gradients are exchanged");
      return all;
    }
    Collective inside = new SoloCollective();
    for (var ranks : hosts) {
      var ofHost = all.subgroup(ranks.stream().mapToInt(Integer::intValue).toArray());
      inside = ranks.contains(all.rank()) ? ofHost : inside;
    }
    return inside;
  }

  /**
   * Forms the other groups; all ranks call it together.
   *
   * @param isSliced whether each rank inside updates slices of its own
   */
  static Levels join(AveragingGroup group, StepContext context, boolean isSliced) {
    var all = context.collective();
    if (group == AveragingGroup.RANK || all.size() == 1) {
      var alone = new SoloCollective();
      return new Levels(all, alone, alone, all, all.size(), all.rank());
    }
    var inside = context.peers();
    var hosts = ranksByHost(all, context.host());
    if (hosts.size() == 1) {
      return new Levels(all, inside, inside, new SoloCollective(), 1, 0);
    }
    int replica = 0;
    while (!hosts.get(replica).contains(all.rank())) {
      replica++;
    }
    var told = isSliced ? new SoloCollective() : inside;
    var across = isSliced ? ofSamePlace(all, inside.rank(), hosts) : ofPlace(all, 0, hosts);
    return new Levels(all, inside, told, across, hosts.size(), replica);
  }

  private static Collective ofPlace(Collective all, int place, List<List<Integer>> hosts) {
    return all.subgroup(hosts.stream().mapToInt(ranks -> ranks.get(place)).toArray());
  }

  private static Collective ofSamePlace(Collective all, int own, List<List<Integer>> hosts) {
    var sizes = hosts.stream().map(List::size).toList();
    if (sizes.stream().distinct().count() > 1) {
      throw new ConfigException(
          "group",
          ("host with slices averages each with the ranks of other hosts that keep the same ones,"
                  + " but hosts have %s ranks; start as many ranks on each, or keep no slices")
              .formatted(sizes));
    }
    Collective across = new SoloCollective();
    for (int place = 0; place < sizes.getFirst(); place++) {
      var group = ofPlace(all, place, hosts);
      across = place == own ? group : across;
    }
    return across;
  }

  /** Returns the same groups, whose operations wait as long as the rounds ask for. */
  Levels with(SyncTimeout timeout) {
    return new Levels(
        new SyncTimeoutGroup(all, timeout),
        new SyncTimeoutGroup(inside, timeout),
        new SyncTimeoutGroup(told, timeout),
        new SyncTimeoutGroup(across, timeout),
        replicas,
        replica);
  }

  /** Tells whether this rank speaks for those whom it tells the average. */
  boolean isLeader() {
    return told.rank() == 0;
  }

  /** Returns a sum over all parameters, of which this rank has its part. */
  double overSlices(double own) {
    if (told.size() == inside.size()) {
      return own;
    }
    try (var _ = TensorScope.open()) {
      var sum = Tensors.ofDoubles(own);
      inside.allReduce(sum, Reduction.SUM, Traffic.SCALAR).await();
      return sum.item_double();
    }
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
