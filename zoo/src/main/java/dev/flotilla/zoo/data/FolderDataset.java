package dev.flotilla.zoo.data;

import dev.flotilla.data.Batch;
import dev.flotilla.data.Dataset;
import java.util.BitSet;
import java.util.Optional;
import java.util.function.BiFunction;

/** Images from files, decoded when they are loaded. */
final class FolderDataset implements Dataset {

  static final Normalizer NORMALIZER =
      new Normalizer(new double[] {0.485, 0.456, 0.406}, new double[] {0.229, 0.224, 0.225});

  private final LabelledFiles files;
  private final ReadableFiles readable;
  private final ImageFolder settings;
  private final boolean augment;
  private final AugmentedImages images;

  FolderDataset(LabelledFiles files, ImageFolder settings, boolean augment) {
    this.files = files;
    this.readable = new ReadableFiles(files, settings.onDamaged());
    this.settings = settings;
    this.augment = augment;
    images = new AugmentedImages(settings.augmentation(), NORMALIZER, settings.size(), size());
  }

  @Override
  public int size() {
    return files.files().size();
  }

  @Override
  public Batch load(int[] samples) {
    return images.plain(samples, source((_, it) -> Crop.middle(it, settings.middle())));
  }

  @Override
  public boolean changesByEpoch() {
    return augment;
  }

  @Override
  public Batch load(int[] samples, long seed, long epoch) {
    return augment
        ? images.augmented(
            samples,
            seed,
            epoch,
            source((sample, it) -> Crop.random(it, new SampleRandom(seed, epoch, sample))))
        : load(samples);
  }

  private AugmentedImages.Source source(BiFunction<Integer, Pixels, Crop> crops) {
    return new AugmentedImages.Source() {
      @Override
      public void write(int sample, float[] image) {
        var pixels = readable.read(sample);
        crops.apply(sample, pixels).write(pixels, settings.size(), NORMALIZER, image);
      }

      @Override
      public long label(int sample) {
        return files.labels().get(sample);
      }
    };
  }

  @Override
  public int[] labels() {
    return files.labels().stream().mapToInt(Integer::intValue).toArray();
  }

  @Override
  public Optional<BitSet> damaged() {
    return settings.onDamaged() == OnDamaged.STOP
        ? Optional.empty()
        : Optional.of(readable.damaged());
  }

  @Override
  public int loadingThreads() {
    return settings.workers();
  }
}
