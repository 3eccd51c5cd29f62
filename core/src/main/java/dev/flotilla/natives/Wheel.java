package dev.flotilla.natives;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.zip.ZipException;
import java.util.zip.ZipFile;

/** A Python package of PyTorch as it is downloaded: a zip file with libtorch in it. */
record Wheel(Path file) {

  private static final String LIBRARIES = "torch/lib/";
  private static final long LARGEST = 2L << 30;

  private ZipFile open() throws IOException {
    try {
      return new ZipFile(file.toFile());
    } catch (ZipException damaged) {
      throw new IOException("the wheel is damaged or cut off: " + damaged.getMessage(), damaged);
    }
  }

  /**
   * Unpacks some of its libraries into a folder.
   *
   * @throws IOException if the file is damaged, cut off or holds no such library
   */
  void unpack(Set<String> names, Path folder) throws IOException {
    try (var zip = open()) {
      for (var name : names) {
        var entry = zip.getEntry(LIBRARIES + name);
        if (entry == null || entry.getSize() > LARGEST) {
          throw new IOException("it holds no " + LIBRARIES + name);
        }
        try (var content = zip.getInputStream(entry)) {
          Files.copy(content, folder.resolve(name));
        }
      }
    }
  }
}
