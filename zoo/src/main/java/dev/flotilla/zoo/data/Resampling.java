package dev.flotilla.zoo.data;

/**
 * How a stretch of pixels becomes another number of pixels: each new one is a mean of old ones,
 * weighted by a triangle as wide as two new pixels, and at least two old ones. That is bilinear
 * interpolation when enlarging, and does not alias when shrinking.
 *
 * @param starts the first old pixel of each new one
 * @param weights the weights of the old pixels, which add up to 1
 */
@SuppressWarnings("ArrayRecordComponent") // Never compared; made and read in this package only.
record Resampling(int[] starts, float[][] weights) {

  /**
   * Creates the weights.
   *
   * @param from where the stretch begins
   * @param length how long it is
   * @param limit number of old pixels
   * @param size number of new pixels
   */
  static Resampling of(double from, double length, int limit, int size) {
    var starts = new int[size];
    var weights = new float[size][];
    double scale = length / size;
    double reach = Math.max(1, scale);
    for (int i = 0; i < size; i++) {
      double centre = from + (i + 0.5) * scale;
      int first = Math.clamp((long) Math.floor(centre - reach + 0.5), 0, limit - 1);
      int last = Math.clamp((long) Math.ceil(centre + reach - 0.5), first + 1, limit);
      starts[i] = first;
      weights[i] = triangle(first, last, centre, reach);
    }
    return new Resampling(starts, weights);
  }

  private static float[] triangle(int first, int last, double centre, double reach) {
    var weights = new double[last - first];
    double sum = 0;
    for (int x = first; x < last; x++) {
      weights[x - first] = Math.max(0, 1 - Math.abs(x + 0.5 - centre) / reach);
      sum += weights[x - first];
    }
    var normalized = new float[weights.length];
    for (int i = 0; i < normalized.length; i++) {
      normalized[i] = (float) (sum == 0 ? 1.0 / normalized.length : weights[i] / sum);
    }
    return normalized;
  }

  int first() {
    return starts[0];
  }

  /** Returns the old pixel after the last one that is used. */
  int last() {
    int last = 0;
    for (int i = 0; i < starts.length; i++) {
      last = Math.max(last, starts[i] + weights[i].length);
    }
    return last;
  }

  /** Resizes the given rows of an image across; returns three channels per new pixel. */
  float[] acrossRows(Pixels image, int firstRow, int lastRow) {
    int size = starts.length;
    var result = new float[(lastRow - firstRow) * size * 3];
    for (int y = firstRow; y < lastRow; y++) {
      for (int x = 0; x < size; x++) {
        mix(image, y * image.width() + starts[x], weights[x], result, pixel(y - firstRow, x));
      }
    }
    return result;
  }

  private int pixel(int row, int column) {
    return (row * starts.length + column) * 3;
  }

  private static void mix(Pixels image, int from, float[] normalized, float[] result, int to) {
    float red = 0;
    float green = 0;
    float blue = 0;
    for (int i = 0; i < normalized.length; i++) {
      int rgb = image.rgb()[from + i];
      red += normalized[i] * (rgb >>> 16 & 0xff);
      green += normalized[i] * (rgb >>> 8 & 0xff);
      blue += normalized[i] * (rgb & 0xff);
    }
    result[to] = red;
    result[to + 1] = green;
    result[to + 2] = blue;
  }

  /** Resizes narrowed rows downwards and writes planes. */
  void downColumns(
      float[] narrowed,
      int size,
      int firstRow,
      boolean mirrored,
      Normalizer normalizer,
      float[] target) {
    for (int y = 0; y < size; y++) {
      for (int x = 0; x < size; x++) {
        int column = mirrored ? size - 1 - x : x;
        for (int channel = 0; channel < 3; channel++) {
          float sum = 0;
          for (int i = 0; i < weights[y].length; i++) {
            int row = starts[y] + i - firstRow;
            sum += weights[y][i] * narrowed[(row * size + column) * 3 + channel];
          }
          target[channel * size * size + y * size + x] = normalizer.ofReal(channel, sum);
        }
      }
    }
  }
}
