package dev.flotilla.zoo.data;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.memory.NativeView;
import dev.flotilla.memory.TensorScope;
import java.lang.foreign.ValueLayout;
import org.bytedeco.javacpp.Pointer;
import org.bytedeco.pytorch.global.torch.ScalarType;
import org.junit.jupiter.api.Test;

class ImageDatasetTests {

  private static final float BLACK = (float) ((0 - 0.1307) / 0.3081);
  private static final float WHITE = (float) ((1 - 0.1307) / 0.3081);

  @Test
  void padsWithBlackAndNormalises() {
    var pixels = new byte[2 * 784];
    pixels[784] = (byte) 255; // Top left of the second image.
    pixels[2 * 784 - 1] = (byte) 51; // Its bottom right.
    var dataset = new ImageDataset(pixels, new byte[] {3, 9});
    try (var _ = TensorScope.open()) {
      var image = dataset.load(new int[] {1}).inputs().getFirst();
      float[] values = NativeView.of(image).toArray(ValueLayout.JAVA_FLOAT);
      for (int i = 0; i < values.length; i++) {
        float expected =
            switch (i) {
              case 2 * 32 + 2 -> WHITE;
              case 29 * 32 + 29 -> (float) ((0.2 - 0.1307) / 0.3081);
              default -> BLACK;
            };
        assertThat(values[i]).as("pixel %d", i).isEqualTo(expected);
      }
    }
  }

  @Test
  void loadsSamplesInTheOrderAskedFor() {
    var pixels = new byte[3 * 784];
    pixels[784] = (byte) 255;
    var dataset = new ImageDataset(pixels, new byte[] {3, 9, 0});
    try (var _ = TensorScope.open()) {
      var batch = dataset.load(new int[] {2, 1, 1, 0});
      var image = batch.inputs().getFirst();
      assertThat(batch.samples()).isEqualTo(4);
      assertThat(image.scalar_type().intern()).isEqualTo(ScalarType.Float);
      assertThat(new long[] {image.size(0), image.size(1), image.size(2), image.size(3)})
          .containsExactly(4, 1, 32, 32);
      assertThat(batch.targets().scalar_type().intern()).isEqualTo(ScalarType.Long);
      assertThat(NativeView.of(batch.targets()).toArray(ValueLayout.JAVA_LONG))
          .containsExactly(0, 9, 9, 3);
      var values = NativeView.of(image);
      assertThat(values.getAtIndex(ValueLayout.JAVA_FLOAT, 2 * 32 + 2)).isEqualTo(BLACK);
      assertThat(values.getAtIndex(ValueLayout.JAVA_FLOAT, 1024 + 2 * 32 + 2)).isEqualTo(WHITE);
      assertThat(values.getAtIndex(ValueLayout.JAVA_FLOAT, 3072 + 2 * 32 + 2)).isEqualTo(BLACK);
    }
  }

  @Test
  void makesNoNativeObjectBesideTheTwoTensors() {
    var dataset = new ImageDataset(new byte[784], new byte[1]);
    try (var _ = TensorScope.open()) {
      dataset.load(new int[] {0});
    }
    long before = Pointer.totalCount();
    try (var _ = TensorScope.open()) {
      dataset.load(new int[] {0});
      assertThat(Pointer.totalCount() - before).isEqualTo(2);
    }
    assertThat(Pointer.totalCount()).isEqualTo(before);
  }
}
