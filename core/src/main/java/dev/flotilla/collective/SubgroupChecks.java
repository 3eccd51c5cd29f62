package dev.flotilla.collective;

import java.util.Arrays;

/** Checks the list of ranks of a subgroup. */
final class SubgroupChecks {

  private SubgroupChecks() {}

  static void check(int[] ranks, int size) {
    boolean inRange = Arrays.stream(ranks).allMatch(rank -> rank >= 0 && rank < size);
    boolean distinct = Arrays.stream(ranks).distinct().count() == ranks.length;
    if (ranks.length == 0 || !inRange || !distinct) {
      throw new IllegalArgumentException(
          "a subgroup needs different ranks in [0, %d), but was given %s"
              .formatted(size, Arrays.toString(ranks)));
    }
  }

  /** Returns the place of a rank in the list, or -1. */
  static int place(int[] ranks, int rank) {
    for (int i = 0; i < ranks.length; i++) {
      if (ranks[i] == rank) {
        return i;
      }
    }
    return -1;
  }
}
