package dev.flotilla.zoo.data;

import dev.flotilla.data.Batch;
import dev.flotilla.data.Dataset;
import dev.flotilla.memory.NativeView;
import dev.flotilla.memory.Tensors;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.function.BiFunction;
import org.bytedeco.pytorch.global.torch;

/** Images from files, decoded when they are loaded. */
final class FolderDataset implements Dataset {

  static final Normalizer NORMALIZER =
      new Normalizer(new double[] {0.485, 0.456, 0.406}, new double[] {0.229, 0.224, 0.225});

  private final LabelledFiles files;
  private final ImageFolder settings;
  private final boolean augment;

  FolderDataset(LabelledFiles files, ImageFolder settings, boolean augment) {
    this.files = files;
    this.settings = settings;
    this.augment = augment;
  }

  @Override
  public int size() {
    return files.files().size();
  }

  @Override
  public Batch load(int[] samples) {
    return load(samples, (_, pixels) -> Crop.middle(pixels, settings.middle()));
  }

  @Override
  public Batch load(int[] samples, long seed, long epoch) {
    return augment
        ? load(
            samples, (sample, pixels) -> Crop.random(pixels, new SampleRandom(seed, epoch, sample)))
        : load(samples);
  }

  private Batch load(int[] samples, BiFunction<Integer, Pixels, Crop> crops) {
    int size = settings.size();
    var images = Tensors.empty(torch.ScalarType.Float, samples.length, 3, size, size);
    var target = NativeView.of(images);
    var image = new float[3 * size * size];
    var labels = new long[samples.length];
    for (int i = 0; i < samples.length; i++) {
      var pixels = Pixels.read(files.files().get(samples[i]));
      crops.apply(samples[i], pixels).write(pixels, size, NORMALIZER, image);
      long offset = (long) i * image.length * Float.BYTES;
      MemorySegment.copy(image, 0, target, ValueLayout.JAVA_FLOAT, offset, image.length);
      labels[i] = files.labels().get(samples[i]);
    }
    return new Batch(List.of(images), Tensors.ofLongs(labels), samples.length);
  }

  @Override
  public int loadingThreads() {
    return settings.workers();
  }
}
