package dev.flotilla.app.doctor;

import java.util.ArrayList;
import java.util.List;

/** Compares clocks by what each rank's showed when it left the same barriers. */
final class ClockOffsets {

  private ClockOffsets() {}

  /**
   * Returns by how many seconds each rank's clock is ahead of rank 0's: the median over barriers,
   * as ranks may leave one of them late.
   *
   * @param micros for each rank, its clock after each barrier in microseconds
   */
  static List<Double> of(List<List<Long>> micros) {
    List<Double> offsets = new ArrayList<>();
    var first = micros.getFirst();
    for (var rank : micros) {
      List<Long> differences = new ArrayList<>();
      for (int i = 0; i < first.size(); i++) {
        differences.add(rank.get(i) - first.get(i));
      }
      differences.sort(Long::compare);
      offsets.add(differences.get(differences.size() / 2) / 1e6);
    }
    return offsets;
  }
}
