package dev.flotilla.zoo.data;

import java.awt.Color;

/** Changes brightness, contrast, saturation and hue of an image in a random order. */
final class ColorJitter {

  private static final int CHANNELS = 3;

  private final ImageAugmentation settings;
  private final Normalizer normalizer;

  ColorJitter(ImageAugmentation settings, Normalizer normalizer) {
    this.settings = settings;
    this.normalizer = normalizer;
  }

  /** Changes normalised planes of red, green and blue. */
  void apply(float[] image, SampleRandom random) {
    int plane = image.length / CHANNELS;
    for (int i = 0; i < image.length; i++) {
      image[i] = normalizer.unit(i / plane, image[i]);
    }
    for (int change : random.order(4)) {
      switch (change) {
        case 0 -> blend(image, plane, factor(settings.brightness(), random), Grey.BLACK);
        case 1 -> blend(image, plane, factor(settings.contrast(), random), Grey.MEAN);
        case 2 -> blend(image, plane, factor(settings.saturation(), random), Grey.OWN);
        default -> turn(image, plane, settings.hue() * (2 * random.unit() - 1));
      }
    }
    for (int i = 0; i < image.length; i++) {
      image[i] = normalizer.ofReal(i / plane, 255 * image[i]);
    }
  }

  /** What an image is blended with. */
  private enum Grey {
    BLACK,
    MEAN,
    OWN
  }

  private static double factor(double strength, SampleRandom random) {
    double least = Math.max(0, 1 - strength);
    return least + (1 + strength - least) * random.unit();
  }

  private static void blend(float[] image, int plane, double factor, Grey with) {
    if (factor == 1) {
      return;
    }
    double mean = 0;
    for (int i = 0; with == Grey.MEAN && i < plane; i++) {
      mean += grey(image, plane, i) / plane;
    }
    for (int i = 0; i < plane; i++) {
      double other = with == Grey.OWN ? grey(image, plane, i) : mean;
      for (int at = i; at < image.length; at += plane) {
        image[at] = (float) Math.clamp(factor * image[at] + (1 - factor) * other, 0, 1);
      }
    }
  }

  private static double grey(float[] image, int plane, int i) {
    return 0.2989 * image[i] + 0.587 * image[plane + i] + 0.114 * image[2 * plane + i];
  }

  private static void turn(float[] image, int plane, double share) {
    if (share == 0) {
      return;
    }
    for (int i = 0; i < plane; i++) {
      float[] hsb =
          Color.RGBtoHSB(
              level(image[i]), level(image[plane + i]), level(image[2 * plane + i]), null);
      int rgb = Color.HSBtoRGB((float) (hsb[0] + share), hsb[1], hsb[2]);
      image[i] = (rgb >>> 16 & 0xff) / 255f;
      image[plane + i] = (rgb >>> 8 & 0xff) / 255f;
      image[2 * plane + i] = (rgb & 0xff) / 255f;
    }
  }

  private static int level(float value) {
    return Math.clamp(Math.round(255 * value), 0, 255);
  }
}
