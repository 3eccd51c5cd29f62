package dev.flotilla.zoo.data;

import dev.flotilla.settings.ConfigException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/**
 * The markers of a JPEG file, read to find what the decoder would fill in with grey or with wrong
 * colours instead of failing.
 */
final class JpegStructure {

  private static final int SCAN = 0xda;
  private static final int END = 0xd9;
  private static final int ADOBE = 0xee;

  private final Path file;
  private final byte[] bytes;
  private int colours;
  private boolean hasYcc;

  JpegStructure(Path file, byte[] bytes) {
    this.file = file;
    this.bytes = bytes;
  }

  /**
   * Checks that the image ends where it should and has one, three or four colours.
   *
   * @throws ConfigException with the byte of what is wrong
   */
  void check() {
    int at = 2;
    while (true) {
      at = nextMarker(at);
      int marker = byteAt(at + 1);
      if (marker == END) {
        return;
      }
      if (isAlone(marker)) {
        at += 2;
        continue;
      }
      int length = byteAt(at + 2) << 8 | byteAt(at + 3);
      requireInside(at + 2 + Math.max(2, length));
      if (isFrame(marker)) {
        requireColours(at + 9);
      } else if (marker == ADOBE && length >= 14 && isAdobe(at + 4)) {
        hasYcc = byteAt(at + 15) == 2;
      }
      at += 2 + length;
      if (marker == SCAN) {
        at = endOfScan(at);
      }
    }
  }

  /** Some files have bytes of no meaning between markers; the decoder skips them too. */
  private int nextMarker(int from) {
    for (int at = from; at + 1 < bytes.length; at++) {
      int next = byteAt(at + 1);
      if (byteAt(at) == 0xff && next != 0 && next != 0xff) {
        return at;
      }
    }
    throw truncated(bytes.length);
  }

  /** Within a scan 0xff is followed by 0 or a restart marker, until the next real marker. */
  private int endOfScan(int from) {
    for (int at = from; at + 1 < bytes.length; at++) {
      int next = byteAt(at + 1);
      boolean isData = byteAt(at) != 0xff || next == 0 || next == 0xff || isRestart(next);
      if (!isData) {
        return at;
      }
    }
    throw truncated(bytes.length);
  }

  private static boolean isRestart(int marker) {
    return marker >= 0xd0 && marker <= 0xd7;
  }

  private static boolean isAlone(int marker) {
    return isRestart(marker) || marker == 0x01 || marker == 0xd8;
  }

  /** Start of frame, but for the tables that share its range of numbers. */
  private static boolean isFrame(int marker) {
    return marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc;
  }

  private void requireColours(int at) {
    colours = byteAt(at);
    if (colours != 1 && colours != 3 && colours != 4) {
      throw DataProblem.at(
          file, "byte " + at, "expected 1, 3 or 4 colours, but found " + colours, "");
    }
  }

  private boolean isAdobe(int at) {
    return new String(bytes, at, 5, StandardCharsets.ISO_8859_1).equals("Adobe");
  }

  /** Tells, after the check, whether the image is in inks: cyan, magenta, yellow and black. */
  boolean hasInks() {
    return colours == 4;
  }

  /** Tells, after the check, whether the first three inks are stored as brightness and hues. */
  boolean isYcck() {
    return hasInks() && hasYcc;
  }

  private void requireInside(int end) {
    if (end > bytes.length) {
      throw truncated(bytes.length);
    }
  }

  private int byteAt(int at) {
    requireInside(at + 1);
    return Byte.toUnsignedInt(bytes[at]);
  }

  private ConfigException truncated(int at) {
    return DataProblem.at(
        file,
        "byte " + at,
        "the JPEG is cut off: the file ends before the image does",
        "repair or remove the file");
  }
}
