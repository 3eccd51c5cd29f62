package dev.flotilla.zoo.data;

import dev.flotilla.data.Batch;
import dev.flotilla.data.Dataset;
import dev.flotilla.memory.NativeView;
import dev.flotilla.memory.Tensors;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.List;
import org.bytedeco.pytorch.global.torch.ScalarType;

/**
 * Labelled grey images of 28 × 28 pixels, kept as bytes.
 *
 * <p>Loaded, an image has a black border of two pixels around it, 32 × 32 in all, and every pixel
 * x, border included, is (x / 255 - 0.1307) / 0.3081: mean and standard deviation of MNIST's
 * training images.
 */
final class ImageDataset implements Dataset {

  /** What {@link #normalised} computes of a pixel x, in words. */
  static final String NORMALIZATION =
      "(x / 255 - 0.1307) / 0.3081, an image of 28x28 with a border of two black pixels";

  private static final int SIDE = 28;
  private static final int BORDER = 2;
  private static final int PADDED_SIDE = SIDE + 2 * BORDER;
  private static final int PIXELS = SIDE * SIDE;
  private static final int PADDED_PIXELS = PADDED_SIDE * PADDED_SIDE;
  private static final float[] NORMALISED = normalised();

  private final byte[] pixels;
  private final byte[] labels;

  ImageDataset(byte[] pixels, byte[] labels) {
    this.pixels = pixels;
    this.labels = labels;
  }

  private static float[] normalised() {
    var values = new float[256];
    for (int x = 0; x < values.length; x++) {
      values[x] = (float) ((x / 255.0 - 0.1307) / 0.3081);
    }
    return values;
  }

  @Override
  public int size() {
    return labels.length;
  }

  @Override
  public Batch load(int[] samples) {
    int count = samples.length;
    var images = Tensors.empty(ScalarType.Float, count, 1, PADDED_SIDE, PADDED_SIDE);
    var classes = Tensors.empty(ScalarType.Long, count);
    writeImages(samples, NativeView.of(images));
    writeLabels(samples, NativeView.of(classes));
    return new Batch(List.of(images), classes, count);
  }

  /**
   * Fills one padded image on the heap, whose border stays black, and copies it for each sample.
   */
  private void writeImages(int[] samples, MemorySegment target) {
    var padded = new float[PADDED_PIXELS];
    Arrays.fill(padded, NORMALISED[0]);
    for (int i = 0; i < samples.length; i++) {
      fill(padded, samples[i] * PIXELS);
      MemorySegment.copy(
          padded,
          0,
          target,
          ValueLayout.JAVA_FLOAT,
          (long) i * PADDED_PIXELS * Float.BYTES,
          PADDED_PIXELS);
    }
  }

  private void fill(float[] padded, int start) {
    for (int row = 0; row < SIDE; row++) {
      int from = start + row * SIDE;
      int to = (row + BORDER) * PADDED_SIDE + BORDER;
      for (int column = 0; column < SIDE; column++) {
        padded[to + column] = NORMALISED[pixels[from + column] & 0xff];
      }
    }
  }

  private void writeLabels(int[] samples, MemorySegment target) {
    for (int i = 0; i < samples.length; i++) {
      target.setAtIndex(ValueLayout.JAVA_LONG, i, labels[samples[i]]);
    }
  }
}
