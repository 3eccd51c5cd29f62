package dev.flotilla.zoo.data;

import java.nio.file.Path;

/** A file of labelled images of 32×32 pixels. */
interface CifarFile {

  /** Bytes of an image: a plane each of red, green and blue. */
  int PIXEL_BYTES = 3 * 32 * 32;

  /** Number of classes. */
  int CLASSES = 10;

  /**
   * Checks what can be seen without keeping the images.
   *
   * @throws dev.flotilla.settings.ConfigException if the file is missing or malformed
   */
  void check();

  /**
   * Reads all images.
   *
   * @throws dev.flotilla.settings.ConfigException if the file is missing or malformed
   */
  CifarImages read();

  /** Returns the file in the format that its name stands for. */
  static CifarFile of(Path file) {
    return file.toString().endsWith(".bin") ? new CifarBinaryFile(file) : new CifarPickleFile(file);
  }
}
