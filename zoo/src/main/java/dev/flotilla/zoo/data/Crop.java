package dev.flotilla.zoo.data;

/**
 * The piece of an image that is seen.
 *
 * @param left first column, possibly between two pixels
 * @param top first row
 * @param width columns
 * @param height rows
 * @param mirrored whether left and right are swapped
 */
record Crop(double left, double top, double width, double height, boolean mirrored) {

  private static final int TRIES = 10;
  private static final double LEAST_AREA = 0.08;
  private static final double LOG_ASPECT = Math.log(4.0 / 3);

  /** Returns the square in the middle whose side is a fraction of the shorter side. */
  static Crop middle(Pixels image, double fraction) {
    double side = fraction * Math.min(image.width(), image.height());
    return new Crop((image.width() - side) / 2, (image.height() - side) / 2, side, side, false);
  }

  /**
   * Draws a piece of 8 % to 100 % of the area with an aspect from 3:4 to 4:3; the middle where ten
   * tries do not fit.
   */
  static Crop random(Pixels image, SampleRandom random) {
    double area = (double) image.width() * image.height();
    for (int i = 0; i < TRIES; i++) {
      double wanted = area * (LEAST_AREA + (1 - LEAST_AREA) * random.unit());
      double aspect = Math.exp((2 * random.unit() - 1) * LOG_ASPECT);
      int width = (int) Math.round(Math.sqrt(wanted * aspect));
      int height = (int) Math.round(Math.sqrt(wanted / aspect));
      if (width >= 1 && width <= image.width() && height >= 1 && height <= image.height()) {
        int left = random.below(image.width() - width + 1);
        int top = random.below(image.height() - height + 1);
        return new Crop(left, top, width, height, random.coin());
      }
    }
    double side = Math.min(image.width(), image.height());
    return new Crop(
        (image.width() - side) / 2, (image.height() - side) / 2, side, side, random.coin());
  }

  /** Resizes this piece to a square and writes it as planes of red, green and blue. */
  void write(Pixels image, int size, Normalizer normalizer, float[] target) {
    var columns = Resampling.of(left, width, image.width(), size);
    var rows = Resampling.of(top, height, image.height(), size);
    float[] narrowed = columns.acrossRows(image, rows.first(), rows.last());
    rows.downColumns(narrowed, size, rows.first(), mirrored, normalizer, target);
  }
}
