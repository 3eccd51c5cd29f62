package dev.flotilla.checkpoint;

import java.util.List;
import java.util.regex.Pattern;

/**
 * What a manifest says about a file.
 *
 * @param name its name in the checkpoint's folder
 * @param bytes its size
 * @param sha256 digest of the whole file, hexadecimal
 * @param crc32c checksums of its blocks of {@value #BLOCK} bytes, in order, hexadecimal
 */
record FileNote(String name, long bytes, String sha256, List<String> crc32c) {

  /** Small enough to say where a file is damaged, large enough to cost nothing. */
  static final int BLOCK = 1 << 20;

  private static final Pattern PLAIN = Pattern.compile("[a-z0-9][a-z0-9.-]{0,99}");

  /** Checks that the note stays inside its folder and covers the whole file. */
  FileNote {
    if (!PLAIN.matcher(name).matches()) {
      throw new IllegalArgumentException("a file of a checkpoint cannot be called " + name);
    }
    if (bytes < 0 || crc32c.size() != Math.ceilDiv(bytes, (long) BLOCK)) {
      throw new IllegalArgumentException(
          "%s of %d bytes has %d checksums".formatted(name, bytes, crc32c.size()));
    }
    crc32c = List.copyOf(crc32c);
  }
}
