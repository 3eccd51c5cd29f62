package dev.flotilla.board.page;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Locale;
import java.util.Set;

/** Writes files that are whole or not there, and only their owner may read. */
final class FileWriting {

  private FileWriting() {}

  static void replace(Path file, String text) throws IOException {
    var part = file.resolveSibling(file.getFileName() + ".part");
    Files.deleteIfExists(part);
    Files.createFile(
        part, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
    try {
      Files.writeString(part, text);
      Files.move(part, file, StandardCopyOption.ATOMIC_MOVE);
    } finally {
      Files.deleteIfExists(part);
    }
  }

  /** Returns a file name of a name of anybody's, which no other one in the set has. */
  static String name(String wanted, String ending, Set<String> taken) {
    var plain = wanted.replaceAll("[^A-Za-z0-9._-]+", "-").replaceAll("^[.-]+|[.-]+$", "");
    plain = plain.isEmpty() ? "run" : plain.substring(0, Math.min(100, plain.length()));
    var name = plain + ending;
    for (int i = 2; !taken.add(name.toLowerCase(Locale.ROOT)); i++) {
      name = plain + "-" + i + ending;
    }
    return name;
  }
}
