package dev.flotilla.zoo.data;

import dev.flotilla.data.Batch;
import dev.flotilla.data.Dataset;
import java.util.function.IntFunction;

/** Images of CIFAR-10, kept as bytes; cropped and mirrored in training where wanted. */
final class CifarDataset implements Dataset {

  private static final int SIDE = 32;
  private static final int PLANE = SIDE * SIDE;
  private static final int PADDING = 4;
  static final Normalizer NORMALIZER =
      new Normalizer(new double[] {0.4914, 0.4822, 0.4465}, new double[] {0.2470, 0.2435, 0.2616});

  private final CifarImages images;
  private final boolean augment;
  private final AugmentedImages augmented;

  CifarDataset(CifarImages images, boolean augment, ImageAugmentation augmentation) {
    this.images = images;
    this.augment = augment;
    augmented = new AugmentedImages(augmentation, NORMALIZER, SIDE, images.count());
  }

  @Override
  public int size() {
    return images.count();
  }

  @Override
  public Batch load(int[] samples) {
    return augmented.plain(samples, source(_ -> Placement.AS_IS));
  }

  @Override
  public boolean changesByEpoch() {
    return augment;
  }

  @Override
  public Batch load(int[] samples, long seed, long epoch) {
    return augment
        ? augmented.augmented(
            samples,
            seed,
            epoch,
            source(sample -> Placement.draw(new SampleRandom(seed, epoch, sample))))
        : load(samples);
  }

  private AugmentedImages.Source source(IntFunction<Placement> placement) {
    return new AugmentedImages.Source() {
      @Override
      public void write(int sample, float[] image) {
        CifarDataset.this.write(sample, placement.apply(sample), image);
      }

      @Override
      public long label(int sample) {
        return images.labels()[sample];
      }
    };
  }

  private void write(int sample, Placement placement, float[] image) {
    for (int channel = 0; channel < 3; channel++) {
      int from = sample * CifarFile.PIXEL_BYTES + channel * PLANE;
      for (int y = 0; y < SIDE; y++) {
        writeRow(channel, from, y, placement, image);
      }
    }
  }

  private void writeRow(int channel, int from, int y, Placement placement, float[] image) {
    int row = y + placement.down() - PADDING;
    int to = channel * PLANE + y * SIDE;
    for (int x = 0; x < SIDE; x++) {
      int seen = placement.mirrored() ? SIDE - 1 - x : x;
      int column = seen + placement.right() - PADDING;
      boolean isInside = row >= 0 && row < SIDE && column >= 0 && column < SIDE;
      int value = isInside ? images.pixels()[from + row * SIDE + column] & 0xff : 0;
      image[to + x] = NORMALIZER.of(channel, value);
    }
  }

  /**
   * Which piece of the padded image is seen.
   *
   * @param right first column of the piece in the padded image
   * @param down first row of the piece in the padded image
   * @param mirrored whether left and right are swapped
   */
  private record Placement(int right, int down, boolean mirrored) {

    static final Placement AS_IS = new Placement(PADDING, PADDING, false);

    static Placement draw(SampleRandom random) {
      int down = random.below(2 * PADDING + 1);
      int right = random.below(2 * PADDING + 1);
      return new Placement(right, down, random.coin());
    }
  }
}
