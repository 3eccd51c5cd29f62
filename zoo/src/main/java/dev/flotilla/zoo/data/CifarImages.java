package dev.flotilla.zoo.data;

import java.util.List;

/**
 * Images and labels of CIFAR-10, one after the other.
 *
 * @param pixels {@link CifarFile#PIXEL_BYTES} for each image
 * @param labels a class for each image
 */
@SuppressWarnings("ArrayRecordComponent") // Never compared; made and read in this package only.
record CifarImages(byte[] pixels, byte[] labels) {

  int count() {
    return labels.length;
  }

  /** Reads files one after the other. */
  static CifarImages read(List<CifarFile> files) {
    var parts = files.stream().map(CifarFile::read).toList();
    int count = parts.stream().mapToInt(CifarImages::count).sum();
    var all = new CifarImages(new byte[count * CifarFile.PIXEL_BYTES], new byte[count]);
    int at = 0;
    for (var part : parts) {
      System.arraycopy(part.labels, 0, all.labels, at, part.count());
      System.arraycopy(part.pixels, 0, all.pixels, at * CifarFile.PIXEL_BYTES, part.pixels.length);
      at += part.count();
    }
    return all;
  }
}
