package dev.flotilla.zoo.data;

import dev.flotilla.settings.ConfigException;
import java.awt.image.BufferedImage;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import javax.imageio.ImageIO;
import javax.imageio.ImageReader;
import javax.imageio.stream.MemoryCacheImageInputStream;

/**
 * A decoded image.
 *
 * @param width columns
 * @param height rows
 * @param rgb a number 0xRRGGBB for each pixel, row by row
 */
@SuppressWarnings("ArrayRecordComponent") // Never compared; made and read in this package only.
record Pixels(int width, int height, int[] rgb) {

  private static final long MOST_PIXELS = 1L << 28;
  private static final String FIX = "repair or remove the file";

  /**
   * Decodes a file in full.
   *
   * @throws ConfigException with the file and, where known, the byte of what is wrong
   */
  static Pixels read(Path file) {
    try {
      byte[] bytes = Files.readAllBytes(file);
      boolean isJpeg = bytes.length > 1 && bytes[0] == (byte) 0xff && bytes[1] == (byte) 0xd8;
      if (isJpeg) {
        new JpegStructure(file, bytes).check();
      }
      return decode(file, bytes, isJpeg ? "jpeg" : "png");
    } catch (IOException e) {
      throw DataProblem.unreadable(file, e);
    }
  }

  private static Pixels decode(Path file, byte[] bytes, String format) {
    ImageReader reader = ImageIO.getImageReadersByFormatName(format).next();
    List<String> warnings = new ArrayList<>();
    reader.addIIOReadWarningListener((_, warning) -> warnings.add(warning));
    // In memory: the default would write a file of its own for each image.
    try (var in = new MemoryCacheImageInputStream(new ByteArrayInputStream(bytes))) {
      reader.setInput(in, true, true);
      requireSize(file, reader.getWidth(0), reader.getHeight(0));
      var image = reader.read(0);
      if (!warnings.isEmpty()) {
        throw DataProblem.of(file, "is damaged: " + warnings.getFirst(), FIX);
      }
      return of(image);
    } catch (IOException | IllegalArgumentException | IndexOutOfBoundsException e) {
      throw DataProblem.of(
          file, "cannot be decoded as %s: %s".formatted(format, e.getMessage()), FIX);
    } finally {
      reader.dispose();
    }
  }

  private static void requireSize(Path file, int width, int height) {
    if (width < 1 || height < 1 || (long) width * height > MOST_PIXELS) {
      throw DataProblem.of(file, "has an unlikely size of %d × %d".formatted(width, height), FIX);
    }
  }

  private static Pixels of(BufferedImage image) {
    int width = image.getWidth();
    int height = image.getHeight();
    if (image.getType() == BufferedImage.TYPE_BYTE_GRAY) {
      return grey(image, width, height);
    }
    return new Pixels(width, height, image.getRGB(0, 0, width, height, null, 0, width));
  }

  /** Java takes grey for linear light and would brighten it on the way to RGB. */
  private static Pixels grey(BufferedImage image, int width, int height) {
    int[] values = image.getRaster().getSamples(0, 0, width, height, 0, (int[]) null);
    for (int i = 0; i < values.length; i++) {
      values[i] *= 0x010101;
    }
    return new Pixels(width, height, values);
  }
}
