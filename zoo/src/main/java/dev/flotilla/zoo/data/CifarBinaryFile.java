package dev.flotilla.zoo.data;

import dev.flotilla.settings.ConfigException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** CIFAR-10's binary format: for each image a byte of label and 3,072 of pixels. */
record CifarBinaryFile(Path file) implements CifarFile {

  private static final int RECORD = 1 + PIXEL_BYTES;
  private static final long MOST_BYTES = 1L << 30;
  private static final String FIX = "copy or download the file again";

  @Override
  public void check() {
    read();
  }

  @Override
  public CifarImages read() {
    try {
      requireLength(Files.size(file));
      byte[] records = Files.readAllBytes(file);
      requireLength(records.length);
      return split(records);
    } catch (IOException e) {
      throw DataProblem.unreadable(file, e);
    }
  }

  private void requireLength(long length) {
    if (length == 0 || length % RECORD != 0 || length > MOST_BYTES) {
      throw DataProblem.of(
          file,
          "expected a multiple of %d bytes, one label and 3072 pixels each, but found %d"
              .formatted(RECORD, length),
          FIX);
    }
  }

  private CifarImages split(byte[] records) {
    int count = records.length / RECORD;
    var images = new CifarImages(new byte[count * PIXEL_BYTES], new byte[count]);
    for (int i = 0; i < count; i++) {
      int at = i * RECORD;
      images.labels()[i] = label(records[at], at);
      System.arraycopy(records, at + 1, images.pixels(), i * PIXEL_BYTES, PIXEL_BYTES);
    }
    return images;
  }

  private byte label(byte label, int at) throws ConfigException {
    int value = Byte.toUnsignedInt(label);
    if (value >= CLASSES) {
      throw DataProblem.at(
          file, "byte " + at, "expected a label from 0 to 9, but found " + value, FIX);
    }
    return label;
  }
}
