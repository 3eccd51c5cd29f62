package dev.flotilla.strategy.fusion;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.flotilla.arena.Bucket;
import dev.flotilla.arena.Layout;
import dev.flotilla.collective.Link;
import dev.flotilla.memory.Precision;
import dev.flotilla.model.ParameterSpec;
import dev.flotilla.model.Shape;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CutTests {

  /** Layers of one weight and one bias each. */
  private static Layout layers(int... elements) {
    List<ParameterSpec> specs = new ArrayList<>();
    for (int i = 0; i < elements.length; i++) {
      specs.add(ParameterSpec.weight("layer" + i + ".weight", Shape.of(elements[i]), 1));
      specs.add(ParameterSpec.bias("layer" + i + ".bias", 16, 1));
    }
    return Layout.of(specs, Precision.FLOAT32);
  }

  private static void assertCovers(Layout layout, List<Bucket.Range> buckets) {
    long end = layout.length();
    for (var bucket : buckets) {
      assertThat(bucket.offset() + bucket.length()).isEqualTo(end);
      assertThat(bucket.length()).isPositive();
      end = bucket.offset();
    }
    assertThat(end).isZero();
  }

  @ParameterizedTest
  @CsvSource({
    // A bucket is closed by bytes: layers of 1024 + 16 elements are 4160 bytes.
    "4000, 50, 0, 6",
    "8000, 50, 0, 3",
    "1000000, 50, 0, 1",
    // By tensors, of which a layer has two.
    "1000000, 4, 0, 3",
    "1000000, 3, 0, 6",
    "1000000, 1, 0, 12",
    // The last one is small, if one layer fits into it.
    "1000000, 50, 5000, 2",
    "1000000, 50, 4000, 1",
    "8000, 50, 9000, 3"
  })
  void closesBucketsByBytesOrTensors(double bytes, int tensors, double last, int expected) {
    var layout = layers(1024, 1024, 1024, 1024, 1024, 1024);

    var buckets = new SizeCut(bytes, tensors, last).ranges(layout);

    assertThat(buckets).hasSize(expected);
    assertCovers(layout, buckets);
  }

  @Test
  void neverCutsALayer() {
    var layout = layers(100, 5000, 30);

    var buckets = new SizeCut(64, 50, 0).ranges(layout);

    assertThat(buckets).hasSize(3);
    assertThat(buckets.getFirst().length()).isEqualTo(32 + 16);
  }

  @Test
  void startsWithTheLayerThatBackwardReachesFirst() {
    var layout = layers(16, 32, 48);

    var first = new SizeCut(1, 50, 0).ranges(layout).getFirst();

    assertThat(first.offset()).isEqualTo(16 + 16 + 32 + 16);
  }

  @Test
  void mergingIsNeverWorseThanAnyOtherCut() {
    var random = new Random(7);
    for (int round = 0; round < 200; round++) {
      var layout = layers(random.ints(9, 16, 4000).toArray());
      var pieces = Piece.layers(layout);
      var ready = new double[pieces.size()];
      for (int i = 0; i < ready.length; i++) {
        ready[i] = (i == 0 ? 0 : ready[i - 1]) + random.nextDouble() * 1e-3;
      }
      var link = new Link(random.nextDouble() * 2e-3, random.nextDouble() * 3e-7);

      var cut = new MergedCut(link).cut(pieces, ready, 4);

      assertCovers(layout, cut.ranges());
      assertThat(cut.end()).isCloseTo(best(link, pieces, ready), within(1e-12));
    }
  }

  /** Tries all ways to cut. */
  private static double best(Link link, List<Piece> pieces, double[] ready) {
    double best = Double.POSITIVE_INFINITY;
    for (int cuts = 0; cuts < 1 << (pieces.size() - 1); cuts++) {
      double end = 0;
      double bytes = 0;
      for (int i = 0; i < pieces.size(); i++) {
        bytes += pieces.get(i).range().length() * 4.0;
        if (i == pieces.size() - 1 || (cuts >> i & 1) == 1) {
          end = Math.max(end, ready[i]) + link.latency() + link.secondsPerByte() * bytes;
          bytes = 0;
        }
      }
      best = Math.min(best, end);
    }
    return best;
  }

  @Test
  void aLinkWithoutLatencyGetsABucketPerLayerAndASlowOneASingle() {
    var layout = layers(1000, 1000, 1000, 1000);
    var ready = new double[] {1, 2, 3, 4};
    var pieces = Piece.layers(layout);

    assertThat(new MergedCut(new Link(0, 1e-9)).cut(pieces, ready, 4).ranges()).hasSize(4);
    assertThat(new MergedCut(new Link(100, 1e-9)).cut(pieces, ready, 4).ranges()).hasSize(1);
  }
}
