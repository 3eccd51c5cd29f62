package dev.flotilla.zoo.data;

import java.awt.image.Raster;

/**
 * Turns the four inks of a JPEG for print into red, green and blue, as Pillow does: a colour is
 * what its ink and black leave of white, and colour profiles are not looked at.
 *
 * <p>Files hold inks inverted, as Adobe's programs write them, so that red = c k / 255. In YCCK the
 * first three are stored as YCbCr.
 */
final class Inks {

  private Inks() {}

  /** Returns a number 0xRRGGBB for each pixel of four bands as a file holds them. */
  static int[] toRgb(Raster bands, boolean isYcck) {
    int count = bands.getWidth() * bands.getHeight();
    int[] values =
        bands.getPixels(
            bands.getMinX(), bands.getMinY(), bands.getWidth(), bands.getHeight(), (int[]) null);
    var rgb = new int[count];
    for (int i = 0; i < count; i++) {
      int a = values[4 * i];
      int b = values[4 * i + 1];
      int c = values[4 * i + 2];
      int black = values[4 * i + 3];
      rgb[i] =
          isYcck
              ? pixel(
                  255 - byteOf(a + 1.402 * (c - 128)),
                  255 - byteOf(a - 0.344136 * (b - 128) - 0.714136 * (c - 128)),
                  255 - byteOf(a + 1.772 * (b - 128)),
                  black)
              : pixel(a, b, c, black);
    }
    return rgb;
  }

  private static int byteOf(double value) {
    return Math.clamp(Math.round(value), 0, 255);
  }

  private static int pixel(int red, int green, int blue, int black) {
    return shaded(red, black) << 16 | shaded(green, black) << 8 | shaded(blue, black);
  }

  private static int shaded(int value, int black) {
    return (value * black + 127) / 255;
  }
}
