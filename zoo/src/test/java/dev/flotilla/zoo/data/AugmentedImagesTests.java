package dev.flotilla.zoo.data;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.flotilla.data.Batch;
import dev.flotilla.memory.NativeView;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.settings.ConfigException;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.stream.IntStream;
import org.bytedeco.pytorch.Tensor;
import org.junit.jupiter.api.Test;

final class AugmentedImagesTests {

  private static final int SIDE = 12;
  private static final int PLANE = SIDE * SIDE;
  private static final int SAMPLES = 40;
  private static final Normalizer AS_IS =
      new Normalizer(new double[] {0, 0, 0}, new double[] {1, 1, 1});

  /** Sample i is of one colour, whose red is i / 64. */
  private static final AugmentedImages.Source PLAIN =
      new AugmentedImages.Source() {
        @Override
        public void write(int sample, float[] image) {
          Arrays.fill(image, 0, PLANE, sample / 64f);
          Arrays.fill(image, PLANE, 2 * PLANE, 0.5f);
          Arrays.fill(image, 2 * PLANE, 3 * PLANE, 0.25f);
        }

        @Override
        public long label(int sample) {
          return sample % 10;
        }
      };

  private static AugmentedImages of(ImageAugmentation settings) {
    return new AugmentedImages(settings, AS_IS, SIDE, SAMPLES);
  }

  private static ImageAugmentation mixing(double mixup, double cutmix) {
    return new ImageAugmentation(0, 0, 0, 0, 0, mixup, cutmix);
  }

  private static int[] all() {
    return IntStream.range(0, SAMPLES).toArray();
  }

  private static float[] floats(Tensor tensor) {
    return NativeView.of(tensor).toArray(ValueLayout.JAVA_FLOAT);
  }

  private static long[] longs(Tensor tensor) {
    return NativeView.of(tensor).toArray(ValueLayout.JAVA_LONG);
  }

  /** Red is λ of the one and 1 − λ of the other, whose class is the second target. */
  @Test
  void mixupAddsTwoImagesByTheirShares() {
    try (var _ = TensorScope.open()) {
      var batch = of(mixing(0.8, 0)).augmented(all(), 3, 1, PLAIN);
      float[] images = floats(batch.inputs().getFirst());
      long[] others = longs(batch.allTargets().get(1));
      float[] shares = floats(batch.allTargets().get(2));
      assertThat(longs(batch.allTargets().getFirst()))
          .containsExactly(IntStream.of(all()).mapToLong(PLAIN::label).toArray());
      int mixed = 0;
      for (int i = 0; i < SAMPLES; i++) {
        float red = images[i * 3 * PLANE];
        assertThat(images[i * 3 * PLANE + PLANE]).isCloseTo(0.5f, within(1e-6f));
        double partner = shares[i] == 1 ? 0 : 64 * (red - shares[i] * i / 64.0) / (1 - shares[i]);
        if (shares[i] < 0.99) {
          mixed++;
          assertThat(Math.round(partner) % 10).as("sample %d", i).isEqualTo(others[i]);
          assertThat(partner).isCloseTo(Math.round(partner), within(1e-3));
        }
      }
      assertThat(mixed).isGreaterThan(SAMPLES / 2);
    }
  }

  @Test
  void cutMixSharesAreThoseOfTheArea() {
    try (var _ = TensorScope.open()) {
      var batch = of(mixing(0, 1)).augmented(all(), 3, 1, PLAIN);
      float[] images = floats(batch.inputs().getFirst());
      float[] shares = floats(batch.allTargets().get(2));
      for (int i = 0; i < SAMPLES; i++) {
        int kept = 0;
        for (int at = 0; at < PLANE; at++) {
          kept += images[i * 3 * PLANE + at] == i / 64f ? 1 : 0;
        }
        if (kept < PLANE) {
          assertThat(shares[i]).isCloseTo(kept / (float) PLANE, within(1e-6f));
        }
      }
    }
  }

  /** Whatever else is in the batch, and in which order. */
  @Test
  void whatHappensToASampleDependsOnSeedAndEpochAlone() {
    var settings = new ImageAugmentation(0.4, 0.4, 0.4, 0.1, 0.5, 0.2, 1);
    try (var _ = TensorScope.open()) {
      var whole = of(settings).augmented(all(), 3, 1, PLAIN);
      var some = of(settings).augmented(new int[] {17, 4}, 3, 1, PLAIN);
      assertSame(whole, 17, some, 0);
      assertSame(whole, 4, some, 1);
      var later = of(settings).augmented(all(), 3, 2, PLAIN);
      assertThat(floats(later.inputs().getFirst())).isNotEqualTo(floats(whole.inputs().getFirst()));
    }
  }

  private static void assertSame(Batch one, long place, Batch other, long otherPlace) {
    assertThat(one.inputs().getFirst().get(place).equal(other.inputs().getFirst().get(otherPlace)))
        .isTrue();
    for (int i = 0; i < 3; i++) {
      assertThat(
              one.allTargets().get(i).get(place).equal(other.allTargets().get(i).get(otherPlace)))
          .isTrue();
    }
  }

  @Test
  void aShareIsDrawnFromBeta() {
    double[] drawn =
        IntStream.range(0, 20_000).mapToDouble(i -> new SampleRandom(1, 0, i).beta(0.2)).toArray();
    double mean = Arrays.stream(drawn).average().orElseThrow();
    double variance = Arrays.stream(drawn).map(x -> (x - 0.5) * (x - 0.5)).average().orElseThrow();
    assertThat(mean).isCloseTo(0.5, within(0.01));
    assertThat(variance).isCloseTo(1 / (4 * (2 * 0.2 + 1)), within(0.005));
  }

  /** A rectangle of 2 % to 33 % becomes 0, in the given share of images. */
  @Test
  void erasesARectangle() {
    try (var _ = TensorScope.open()) {
      var settings = new ImageAugmentation(0, 0, 0, 0, 0.5, 0, 0);
      float[] images = floats(of(settings).augmented(all(), 3, 1, PLAIN).inputs().getFirst());
      int erased = 0;
      for (int i = 0; i < SAMPLES; i++) {
        int zeros = 0;
        for (int at = 0; at < PLANE; at++) {
          zeros += images[i * 3 * PLANE + PLANE + at] == 0 ? 1 : 0;
        }
        erased += zeros > 0 ? 1 : 0;
        assertThat(zeros).isLessThan(PLANE * 45 / 100);
      }
      assertThat(erased).isBetween(10, 30);
    }
  }

  /** The formulas of torchvision, for one pixel: grey is 0.2989 r + 0.587 g + 0.114 b. */
  @Test
  void jitterStaysInItsLimits() {
    try (var _ = TensorScope.open()) {
      var brighter = new ImageAugmentation(0.5, 0, 0, 0, 0, 0, 0);
      float[] images = floats(of(brighter).augmented(all(), 3, 1, PLAIN).inputs().getFirst());
      double least = 1;
      double most = 0;
      for (int i = 0; i < SAMPLES; i++) {
        double factor = images[i * 3 * PLANE + PLANE] / 0.5;
        assertThat(images[i * 3 * PLANE + 2 * PLANE] / 0.25).isCloseTo(factor, within(1e-5));
        least = Math.min(least, factor);
        most = Math.max(most, factor);
      }
      assertThat(least).isBetween(0.5, 0.65);
      assertThat(most).isBetween(1.35, 1.5);
      var paler = new ImageAugmentation(0, 0, 1, 0, 0, 0, 0);
      float[] pale = floats(of(paler).augmented(new int[] {20}, 3, 1, PLAIN).inputs().getFirst());
      double grey = 0.2989 * 20 / 64 + 0.587 * 0.5 + 0.114 * 0.25;
      double factor = (pale[PLANE] - grey) / (0.5 - grey);
      assertThat((pale[0] - grey) / (20 / 64.0 - grey)).isCloseTo(factor, within(1e-4));
      assertThat(factor).isBetween(0.0, 2.0).isNotCloseTo(1.0, within(1e-3));
    }
  }

  @Test
  void badNumbersAreRefused() {
    assertThatThrownBy(() -> new ImageAugmentation(-1, 0, 0, 0.6, 2, -1, 0))
        .isInstanceOfSatisfying(ConfigException.class, e -> assertThat(e.problems()).hasSize(4));
    assertThatThrownBy(() -> new Cifar10(Path.of("x"), false, mixing(1, 0)))
        .hasMessageContaining("augmentation: needs augment: true");
  }
}
