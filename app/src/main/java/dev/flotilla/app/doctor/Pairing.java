package dev.flotilla.app.doctor;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Who measures with whom: rounds in which each rank has one partner at most.
 *
 * <p>All pairs of n ranks take n − 1 rounds, or n where n is odd. Of many rounds only {@link #MOST}
 * are made, spread evenly, so that each rank meets that many others, and time and bytes grow with n
 * and not with its square.
 */
final class Pairing {

  static final int MOST = 12;
  static final int NOBODY = -1;

  private Pairing() {}

  /** Returns for each round the partner of each rank, or {@link #NOBODY}. */
  static List<int[]> rounds(int ranks) {
    int places = ranks + ranks % 2;
    int all = places - 1;
    int made = Math.min(all, MOST);
    List<int[]> rounds = new ArrayList<>();
    for (int i = 0; i < made; i++) {
      rounds.add(round(ranks, places, (int) ((long) i * all / made)));
    }
    return rounds;
  }

  /** The last place stays, and the others turn by one each round. */
  private static int[] round(int ranks, int places, int turn) {
    int others = places - 1;
    var partner = new int[ranks];
    IntStream.range(0, ranks)
        .forEach(
            rank -> {
              // Who would meet itself in a turn meets the last place instead.
              int other = rank == others ? turn : Math.floorMod(2 * turn - rank, others);
              int met = other == rank ? others : other;
              partner[rank] = met < ranks ? met : NOBODY;
            });
    return partner;
  }
}
