package dev.flotilla.zoo.data;

import dev.flotilla.data.DataSource;
import dev.flotilla.data.Dataset;
import dev.flotilla.data.SampleForm;
import dev.flotilla.settings.Check;
import dev.flotilla.settings.Setting;
import dev.flotilla.settings.Summary;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * Made-up images of any shape, for benchmarks: noise between −1.7 and 1.7 that is a function of the
 * sample, with classes in turn. Nothing is read, and nothing can be learnt but by heart.
 *
 * @param channels channels of an image
 * @param side width and height of an image
 * @param classes number of classes
 * @param samples number of training images
 * @param testSamples number of test images
 */
@Summary("Noise as images of any shape, for benchmarks.")
public record SyntheticImages(
    @Setting(doc = "Channels of an image, at least 1.", def = "3") int channels,
    @Setting(doc = "Width and height of an image, at least 1.", def = "224") int side,
    @Setting(doc = "Number of classes, at least 2.", def = "1000") int classes,
    @Setting(doc = "Number of training images, at least 1.", def = "1024") int samples,
    @Setting(doc = "Number of test images, at least 1.", def = "128") int testSamples)
    implements DataSource {

  private static final int MOST_SAMPLES = 100_000_000;

  /** Checks the settings. */
  public SyntheticImages {
    Check.that(channels >= 1 && channels <= 4096, "channels", "must be from 1 to 4096", channels)
        .and(side >= 1 && side <= 4096, "side", "must be from 1 to 4096", side)
        .and(classes >= 2, "classes", "must be at least 2", classes)
        .and(isSize(samples), "samples", "must be from 1 to " + MOST_SAMPLES, samples)
        .and(isSize(testSamples), "test_samples", "must be from 1 to " + MOST_SAMPLES, testSamples)
        .orThrow();
  }

  private static boolean isSize(int samples) {
    return samples >= 1 && samples <= MOST_SAMPLES;
  }

  /** Does nothing: there is nothing to read. */
  @Override
  public void check() {}

  @Override
  public Optional<SampleForm> form() {
    return Optional.of(new SampleForm.Images(channels, side, side, classes));
  }

  @Override
  public OptionalInt trainingSize() {
    return OptionalInt.of(samples);
  }

  @Override
  public Dataset train() {
    return new NoiseDataset(this, samples, 0);
  }

  @Override
  public Dataset test() {
    return new NoiseDataset(this, testSamples, samples);
  }
}
