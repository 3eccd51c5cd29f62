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
      if (!isJpeg) {
        return decode(file, bytes, "png", Pixels::colours);
      }
      var structure = new JpegStructure(file, bytes);
      structure.check();
      return decode(
          file,
          bytes,
          "jpeg",
          structure.hasInks() ? reader -> inks(reader, structure.isYcck()) : Pixels::colours);
    } catch (IOException e) {
      throw DataProblem.unreadable(file, e);
    }
  }

  /** How a reader's first image becomes pixels. */
  @FunctionalInterface
  private interface Decoding {
    Pixels of(ImageReader reader) throws IOException;
  }

  private static Pixels colours(ImageReader reader) throws IOException {
    return of(reader.read(0));
  }

  /** Java reads four colours as they are, and does not know what they mean. */
  private static Pixels inks(ImageReader reader, boolean isYcck) throws IOException {
    var bands = reader.readRaster(0, null);
    return new Pixels(bands.getWidth(), bands.getHeight(), Inks.toRgb(bands, isYcck));
  }

  /** The JDK's own, also where a library has put itself before it. */
  private static ImageReader readerOf(String format) {
    var readers = ImageIO.getImageReadersByFormatName(format);
    ImageReader first = readers.next();
    ImageReader reader = first;
    while (readers.hasNext() && !isOfTheJdk(reader)) {
      reader = readers.next();
    }
    return isOfTheJdk(reader) ? reader : first;
  }

  private static boolean isOfTheJdk(ImageReader reader) {
    return reader.getClass().getModule().isNamed();
  }

  private static Pixels decode(Path file, byte[] bytes, String format, Decoding decoding) {
    ImageReader reader = readerOf(format);
    List<String> warnings = new ArrayList<>();
    reader.addIIOReadWarningListener((_, warning) -> warnings.add(warning));
    // In memory: the default would write a file of its own for each image.
    try (var in = new MemoryCacheImageInputStream(new ByteArrayInputStream(bytes))) {
      reader.setInput(in, true, true);
      requireSize(file, reader.getWidth(0), reader.getHeight(0));
      var pixels = decoding.of(reader);
      if (!warnings.isEmpty()) {
        throw DataProblem.of(file, "is damaged: " + warnings.getFirst(), FIX);
      }
      return pixels;
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
