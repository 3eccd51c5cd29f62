package dev.flotilla.collective;

import java.net.InetAddress;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The ranks of a group, seen from one of them; finds out which peer a failure is about. */
final class Roster {

  private static final Pattern ADDRESS = Pattern.compile("\\[([0-9a-fA-F.:]+)\\]:\\d+");
  private static final Duration TIME_TO_DIE = Duration.ofMillis(500);

  private final List<PeerInfo> members;
  private final PeerInfo self;

  Roster(List<PeerInfo> members, int rank) {
    this.members = List.copyOf(members);
    this.self = members.get(rank);
  }

  PeerInfo self() {
    return self;
  }

  int size() {
    return members.size();
  }

  /** Returns the addresses of the members' collectives. */
  Set<String> addresses() {
    return members.stream().map(PeerInfo::address).collect(Collectors.toSet());
  }

  /** Returns the addresses from which members may connect. */
  Set<InetAddress> sources() {
    return Stream.concat(
            addresses().stream(), members.stream().flatMap(member -> member.from().stream()))
        .map(InetAddress::ofLiteral)
        .collect(Collectors.toSet());
  }

  /** Tells whether all members talk over the loopback interface. */
  boolean isOnLoopback() {
    return members.stream()
        .allMatch(peer -> InetAddress.ofLiteral(peer.address()).isLoopbackAddress());
  }

  /** Returns why NCCL cannot connect the members' GPUs; the empty text if it can. */
  String obstacleToNccl() {
    var owners = new HashMap<String, PeerInfo>();
    for (var peer : members) {
      if (peer.gpu().isEmpty()) {
        return peer + " offers none";
      }
      var other = owners.put(peer.gpu(), peer);
      if (other != null) {
        return "%s and %s share %s".formatted(other, peer, peer.gpu());
      }
    }
    return "";
  }

  /** Returns the roster of some members, in the order of the list, as the given one sees it. */
  Roster of(int[] ranks, int rankInside) {
    return new Roster(Arrays.stream(ranks).mapToObj(members::get).toList(), rankInside);
  }

  /** Returns what can be said about the culprits of a failure with this native text. */
  String suspects(String nativeText) {
    var seen = unhealthy();
    if (!seen.isEmpty()) {
      return seen;
    }
    var matching = byAddress(nativeText);
    var candidates = matching.isEmpty() ? others() : matching;
    return candidates.size() == 1
        ? "it concerns " + candidates.getFirst()
        : "it concerns one of " + join(candidates);
  }

  /** A process closes its connections shortly before it is seen to be gone, hence the waiting. */
  private String unhealthy() {
    var deadline = Deadline.in(TIME_TO_DIE);
    var seen = unhealthyNow();
    while (seen.isEmpty() && !deadline.hasPassed()) {
      deadline.pause();
      seen = unhealthyNow();
    }
    return seen;
  }

  private String unhealthyNow() {
    return others().stream()
        .filter(self::sharesProcessesWith)
        .filter(peer -> ProcessState.of(peer.pid()) != ProcessState.RUNNING)
        .map(peer -> peer + " " + ProcessState.of(peer.pid()).words())
        .collect(Collectors.joining(", "));
  }

  private List<PeerInfo> byAddress(String nativeText) {
    var matcher = ADDRESS.matcher(nativeText);
    if (!matcher.find()) {
      return List.of();
    }
    return others().stream().filter(peer -> peer.address().equals(matcher.group(1))).toList();
  }

  private List<PeerInfo> others() {
    return members.stream().filter(peer -> peer.rank() != self.rank()).toList();
  }

  private static String join(List<PeerInfo> peers) {
    return peers.stream().map(PeerInfo::toString).collect(Collectors.joining(", "));
  }
}
