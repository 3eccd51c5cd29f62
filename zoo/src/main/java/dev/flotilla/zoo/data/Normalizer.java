package dev.flotilla.zoo.data;

/** Turns bytes of pixels into (x / 255 − mean) / deviation, by channel. */
final class Normalizer {

  private final float[][] values;

  Normalizer(double[] means, double[] deviations) {
    values = new float[means.length][256];
    for (int channel = 0; channel < means.length; channel++) {
      for (int x = 0; x < 256; x++) {
        values[channel][x] = (float) ((x / 255.0 - means[channel]) / deviations[channel]);
      }
    }
  }

  float of(int channel, int value) {
    return values[channel][value];
  }
}
