package dev.flotilla.collective;

import java.net.InetAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.function.BiFunction;

/** Connects ranks that are threads, without what makes collectives of a group. */
final class NativeGroups {

  private NativeGroups() {}

  /** Returns what each rank has to say. */
  static List<String> onEachRank(Path file, int size, BiFunction<NativeGroup, Integer, String> work)
      throws Exception {
    try (var threads = Executors.newCachedThreadPool()) {
      var ranks = new ArrayList<Callable<String>>();
      for (int rank = 0; rank < size; rank++) {
        int own = rank;
        ranks.add(() -> run(file, own, size, work));
      }
      var results = new ArrayList<String>();
      for (var result : threads.invokeAll(ranks)) {
        results.add(result.get());
      }
      return results;
    }
  }

  private static String run(
      Path file, int rank, int size, BiFunction<NativeGroup, Integer, String> work) {
    var loopback = InetAddress.getLoopbackAddress();
    try (var store = NativeStore.inFile(file)) {
      var membership = new Membership(store, loopback, CollectiveSettings.defaults());
      var roster = membership.meet("test", PeerInfo.here(rank, loopback, ""), rank, size);
      try (var group = membership.form("test", roster, rank)) {
        String result = work.apply(group, rank);
        // Nobody may leave before the others have what it has sent.
        membership.meet("end", roster.self(), rank, size);
        return result;
      }
    }
  }
}
