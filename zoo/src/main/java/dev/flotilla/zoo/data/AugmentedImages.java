package dev.flotilla.zoo.data;

import dev.flotilla.data.Batch;
import dev.flotilla.memory.NativeView;
import dev.flotilla.memory.Tensors;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.List;
import java.util.function.IntConsumer;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;

/** Makes batches of square images, with what training does to them at random. */
final class AugmentedImages {

  /** Keeps what is drawn here apart from what a data set draws for its pieces. */
  private static final long COLOURS = 0x636f6c6f75727321L;

  private static final long PARTNERS = 0x706172746e657273L;
  private static final int TRIES = 10;
  private static final double LOG_ASPECT = Math.log(3.3);

  /** Where images come from. */
  interface Source {

    /** Writes normalised planes of red, green and blue. */
    void write(int sample, float[] image);

    long label(int sample);
  }

  private final ImageAugmentation settings;
  private final ColorJitter jitter;
  private final int side;
  private final int samples;

  /**
   * Prepares batches.
   *
   * @param side width and height
   * @param samples number of all samples, of which partners are drawn
   */
  AugmentedImages(ImageAugmentation settings, Normalizer normalizer, int side, int samples) {
    this.settings = settings;
    this.jitter = new ColorJitter(settings, normalizer);
    this.side = side;
    this.samples = samples;
  }

  /** Makes a batch of images as they are. */
  Batch plain(int[] chosen, Source source) {
    var batch = new Made(chosen.length);
    for (int i = 0; i < chosen.length; i++) {
      source.write(chosen[i], batch.image);
      batch.put(i, source.label(chosen[i]));
    }
    return batch.of(Tensors.ofLongs(batch.labels));
  }

  /** Makes a batch for training. */
  Batch augmented(int[] chosen, long seed, long epoch, Source source) {
    var batch = new Made(chosen.length);
    var others = new long[chosen.length];
    var shares = new float[chosen.length];
    var other = new float[batch.image.length];
    for (int i = 0; i < chosen.length; i++) {
      write(chosen[i], seed, epoch, source, batch.image);
      if (settings.mixes()) {
        var random = new SampleRandom(seed ^ PARTNERS, epoch, chosen[i]);
        int partner = random.below(samples);
        write(partner, seed, epoch, source, other);
        shares[i] = (float) mix(batch.image, other, random);
        others[i] = source.label(partner);
      }
      batch.put(i, source.label(chosen[i]));
    }
    var labels = Tensors.ofLongs(batch.labels);
    return settings.mixes()
        ? batch.of(labels, Tensors.ofLongs(others), Tensors.ofFloats(shares))
        : batch.of(labels);
  }

  private void write(int sample, long seed, long epoch, Source source, float[] image) {
    source.write(sample, image);
    var random = new SampleRandom(seed ^ COLOURS, epoch, sample);
    if (settings.changesColours()) {
      jitter.apply(image, random);
    }
    if (settings.erasing() > 0 && random.unit() < settings.erasing()) {
      erase(image, random);
    }
  }

  /** Erases 2 % to 33 % of the area, of an aspect from 1:3.3 to 3.3; nothing if ten tries fail. */
  private void erase(float[] image, SampleRandom random) {
    for (int i = 0; i < TRIES; i++) {
      double area = (double) side * side * (0.02 + 0.31 * random.unit());
      double aspect = Math.exp((2 * random.unit() - 1) * LOG_ASPECT);
      int width = (int) Math.round(Math.sqrt(area * aspect));
      int height = (int) Math.round(Math.sqrt(area / aspect));
      if (width >= 1 && width < side && height >= 1 && height < side) {
        int left = random.below(side - width + 1);
        int top = random.below(side - height + 1);
        eachRow(top, top + height, row -> Arrays.fill(image, row + left, row + left + width, 0));
        return;
      }
    }
  }

  /** Mixes another image into one; returns the share of the one. */
  private double mix(float[] image, float[] other, SampleRandom random) {
    boolean cuts = settings.mixup() == 0 || (settings.cutmix() > 0 && random.coin());
    double share = random.beta(cuts ? settings.cutmix() : settings.mixup());
    if (cuts) {
      return paste(image, other, share, random);
    }
    float kept = (float) share;
    for (int i = 0; i < image.length; i++) {
      image[i] = kept * image[i] + (1 - kept) * other[i];
    }
    return kept;
  }

  private double paste(float[] image, float[] other, double share, SampleRandom random) {
    double half = 0.5 * side * Math.sqrt(1 - share);
    int x = random.below(side);
    int y = random.below(side);
    int left = (int) Math.max(0, x - half);
    int right = (int) Math.min(side, x + half);
    int top = (int) Math.max(0, y - half);
    int bottom = (int) Math.min(side, y + half);
    eachRow(
        top, bottom, row -> System.arraycopy(other, row + left, image, row + left, right - left));
    return 1 - (double) (right - left) * (bottom - top) / ((double) side * side);
  }

  private void eachRow(int from, int to, IntConsumer row) {
    for (int channel = 0; channel < 3; channel++) {
      for (int y = from; y < to; y++) {
        row.accept((channel * side + y) * side);
      }
    }
  }

  /** A batch that is being made. */
  private final class Made {

    private final float[] image = new float[3 * side * side];
    private final long[] labels;
    private final Tensor images;
    private final MemorySegment target;

    Made(int count) {
      labels = new long[count];
      images = Tensors.empty(torch.ScalarType.Float, count, 3, side, side);
      target = NativeView.of(images);
    }

    void put(int place, long label) {
      labels[place] = label;
      long offset = (long) place * image.length * Float.BYTES;
      MemorySegment.copy(image, 0, target, ValueLayout.JAVA_FLOAT, offset, image.length);
    }

    Batch of(Tensor... targets) {
      return new Batch(List.of(images), List.of(targets), labels.length);
    }
  }
}
