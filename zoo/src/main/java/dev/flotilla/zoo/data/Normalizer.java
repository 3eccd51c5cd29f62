package dev.flotilla.zoo.data;

import java.util.Arrays;

/** Turns bytes of pixels into (x / 255 − mean) / deviation, by channel. */
final class Normalizer {

  private final String text;
  private final float[][] values;
  private final float[] factors;
  private final float[] offsets;

  Normalizer(double[] means, double[] deviations) {
    text =
        "(x / 255 - mean) / deviation of each channel, mean %s, deviation %s"
            .formatted(Arrays.toString(means), Arrays.toString(deviations));
    values = new float[means.length][256];
    factors = new float[means.length];
    offsets = new float[means.length];
    for (int channel = 0; channel < means.length; channel++) {
      factors[channel] = (float) (1 / (255 * deviations[channel]));
      offsets[channel] = (float) (-means[channel] / deviations[channel]);
      for (int x = 0; x < 256; x++) {
        values[channel][x] = (float) ((x / 255.0 - means[channel]) / deviations[channel]);
      }
    }
  }

  float of(int channel, int value) {
    return values[channel][value];
  }

  /** Does so for a value between two bytes. */
  float ofReal(int channel, float value) {
    return value * factors[channel] + offsets[channel];
  }

  /** Returns the pixel, from 0 to 1, that a normalised value stands for. */
  float unit(int channel, float normalized) {
    return (normalized - offsets[channel]) / (255 * factors[channel]);
  }

  /** Returns it as a formula. */
  @Override
  public String toString() {
    return text;
  }
}
