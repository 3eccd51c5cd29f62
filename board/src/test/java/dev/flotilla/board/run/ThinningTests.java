package dev.flotilla.board.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class ThinningTests {

  private static final Series.Key KEY = new Series.Key("loss", "training", "");

  private static Series series(double... values) {
    return Series.of(KEY, IntStream.range(0, values.length).asDoubleStream().toArray(), values);
  }

  private static double[] values(Series series) {
    return IntStream.range(0, series.size()).mapToDouble(series::value).toArray();
  }

  @Test
  void aShortCurveStaysAsItIs() {
    var curve = series(3, 1, 2);
    assertThat(curve.thinned(4)).isSameAs(curve);
  }

  /** Eight inner points in two runs of four: 9 1 5 3 and 2 8 4 7. */
  @Test
  void ofEachRunTheSmallestAndTheLargestStayInTheirOrder() {
    var thinned = series(0, 9, 1, 5, 3, 2, 8, 4, 7, 6).thinned(6);
    assertThat(values(thinned)).containsExactly(0, 9, 1, 2, 8, 6);
    assertThat(IntStream.range(0, 6).mapToDouble(thinned::update).toArray())
        .containsExactly(0, 1, 2, 5, 6, 9);
  }

  @Test
  void noPeakOfARunOfNeighboursIsLost() {
    var random = new Random(7);
    int size = 10_007;
    int most = 500;
    var values = random.doubles(size, -1, 1).toArray();
    var thinned = series(values).thinned(most);
    assertThat(thinned.size()).isBetween(most / 2, most);
    int runs = (most - 2) / 2;
    int inner = size - 2;
    for (int i = 0; i < runs; i++) {
      int from = 1 + (int) ((long) i * inner / runs);
      int to = 1 + (int) ((long) (i + 1) * inner / runs);
      var there =
          IntStream.range(0, thinned.size())
              .filter(it -> thinned.update(it) >= from && thinned.update(it) < to)
              .mapToDouble(thinned::value);
      var kept = there.summaryStatistics();
      var all = IntStream.range(from, to).mapToDouble(it -> values[it]).summaryStatistics();
      assertThat(kept.getMin()).isEqualTo(all.getMin());
      assertThat(kept.getMax()).isEqualTo(all.getMax());
    }
    assertThat(thinned.update(0)).isZero();
    assertThat(thinned.update(thinned.size() - 1)).isEqualTo(size - 1);
  }

  @Test
  void aValueThatIsNoNumberStays() {
    var values = new double[1000];
    values[321] = Double.NaN;
    assertThat(values(series(values).thinned(10))).contains(Double.NaN);
  }
}
