package dev.flotilla.control;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;

/**
 * What clients of a rendezvous have done and seen, and what of it cannot be.
 *
 * <p>Times are of one clock. Every value is written once, so that a register is linearizable if the
 * zones of its values are in order: a value's zone is the time between the first end and the last
 * start of what wrote or read it (Gibbons and Korach, Testing shared memories, 1997).
 */
final class History {

  /** What is read before anything is written. */
  static final String NOTHING = "nothing";

  private static final long NEVER = Long.MAX_VALUE;

  /**
   * Something that a client did to a register of a generation.
   *
   * @param register name with the generation
   * @param end when it returned; {@link Long#MAX_VALUE} for a write of unknown outcome
   */
  private record Act(String register, String value, boolean isWrite, long start, long end) {}

  private record Stay(String place, String who, long start, long end) {}

  private record Zone(String value, long firstEnd, long lastStart) {

    boolean isForward() {
      return firstEnd < lastStart;
    }

    long low() {
      return Math.min(firstEnd, lastStart);
    }

    long high() {
      return Math.max(firstEnd, lastStart);
    }
  }

  private final ConcurrentLinkedQueue<Act> acts = new ConcurrentLinkedQueue<>();
  private final ConcurrentLinkedQueue<Stay> stays = new ConcurrentLinkedQueue<>();
  private final Map<Integer, ConcurrentLinkedQueue<String>> lists = new TreeMap<>();
  private final ConcurrentLinkedQueue<String> violations = new ConcurrentLinkedQueue<>();
  final AtomicInteger lost = new AtomicInteger();

  void wrote(String register, String value, long start, long end) {
    acts.add(new Act(register, value, true, start, end));
  }

  /** Notes a write that may have been done, or may be still. */
  void triedToWrite(String register, String value, long start) {
    lost.incrementAndGet();
    wrote(register, value, start, NEVER);
  }

  void read(String register, String value, long start, long end) {
    acts.add(new Act(register, value, false, start, end));
  }

  /** Notes that somebody was let in as a rank of a generation. */
  void stayed(String place, String who, long start, long end) {
    stays.add(new Stay(place, who, start, end));
  }

  /** Notes a whole list of members that somebody saw. */
  void sawMembers(int generation, String list) {
    synchronized (lists) {
      lists.computeIfAbsent(generation, _ -> new ConcurrentLinkedQueue<>()).add(list);
    }
  }

  void violated(String what) {
    violations.add(what);
  }

  int size() {
    return acts.size();
  }

  int wholeLists() {
    synchronized (lists) {
      return lists.size();
    }
  }

  /** Returns everything that cannot be. */
  List<String> violations() {
    var all = new ArrayList<>(violations);
    acts.stream()
        .collect(Collectors.groupingBy(Act::register))
        .forEach((register, its) -> checkRegister(register, its, all));
    stays.stream()
        .collect(Collectors.groupingBy(Stay::place))
        .forEach((place, its) -> checkStays(place, its, all));
    synchronized (lists) {
      lists.forEach(
          (generation, seen) -> {
            if (seen.stream().distinct().count() > 1) {
              all.add("generation %d has several lists: %s".formatted(generation, seen));
            }
          });
    }
    return all;
  }

  private static void checkStays(String place, List<Stay> stays, List<String> violations) {
    List<Stay> sorted = stays.stream().sorted(Comparator.comparingLong(Stay::start)).toList();
    for (int i = 1; i < sorted.size(); i++) {
      if (sorted.get(i).start() < sorted.get(i - 1).end()) {
        violations.add("%s is there twice: %s".formatted(place, sorted.subList(i - 1, i + 1)));
      }
    }
  }

  private static void checkRegister(String register, List<Act> acts, List<String> violations) {
    Map<String, Act> writes = new HashMap<>();
    writes.put(NOTHING, new Act(register, NOTHING, true, Long.MIN_VALUE, Long.MIN_VALUE));
    acts.stream().filter(Act::isWrite).forEach(it -> writes.put(it.value(), it));
    Map<String, List<Act>> byValue = acts.stream().collect(Collectors.groupingBy(Act::value));
    var zones = new ArrayList<Zone>();
    byValue.forEach(
        (value, its) -> {
          Act write = writes.get(value);
          if (write == null) {
            violations.add("%s: %s was never written".formatted(register, value));
            return;
          }
          boolean isRead = its.stream().anyMatch(it -> !it.isWrite());
          if (!isRead && write.end() == NEVER) {
            return; // nobody knows whether it was done
          }
          if (its.stream().anyMatch(it -> it.end() < write.start())) {
            violations.add("%s: %s was read before it was written".formatted(register, value));
          }
          long firstEnd =
              Math.min(write.end(), its.stream().mapToLong(Act::end).min().orElse(NEVER));
          long lastStart =
              Math.max(write.start(), its.stream().mapToLong(Act::start).max().orElse(0));
          zones.add(new Zone(value, firstEnd, lastStart));
        });
    checkZones(register, zones, violations);
  }

  private static void checkZones(String register, List<Zone> zones, List<String> violations) {
    List<Zone> forward =
        zones.stream().filter(Zone::isForward).sorted(Comparator.comparingLong(Zone::low)).toList();
    for (int i = 1; i < forward.size(); i++) {
      if (forward.get(i).low() < forward.get(i - 1).high()) {
        violations.add(
            "%s: %s and %s overlap".formatted(register, forward.get(i - 1), forward.get(i)));
      }
    }
    for (Zone backward : zones) {
      if (!backward.isForward()
          && forward.stream()
              .anyMatch(it -> it.low() < backward.low() && backward.high() < it.high())) {
        violations.add("%s: %s came back".formatted(register, backward));
      }
    }
  }
}
