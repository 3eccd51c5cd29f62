import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.zip.GZIPOutputStream;

/**
 * Writes a folder as a tar.gz in the format of POSIX.1-1988 (ustar): files by name, of user and
 * group 0, with the folder's time; modes are 755 for folders and what may be executed, 644 for
 * others.
 */
final class TarGz {

  private static final int BLOCK = 512;
  private static final int CHECKSUM = 148;

  private final OutputStream out;
  private final long seconds;

  private TarGz(OutputStream out, long seconds) {
    this.out = out;
    this.seconds = seconds;
  }

  /** Writes a folder under its own name. */
  static void write(Path folder, Path archive) throws IOException {
    try (var out =
        new BufferedOutputStream(new GZIPOutputStream(Files.newOutputStream(archive), 1 << 16))) {
      var tar = new TarGz(out, Files.getLastModifiedTime(folder).to(TimeUnit.SECONDS));
      try (var files = Files.walk(folder)) {
        for (var file : files.sorted().toList()) {
          tar.add(file, folder.getParent().relativize(file).toString());
        }
      }
      out.write(new byte[2 * BLOCK]);
    }
  }

  private void add(Path file, String name) throws IOException {
    if (Files.isSymbolicLink(file)) {
      header(name, '2', 0, 0777, Files.readSymbolicLink(file).toString());
    } else if (Files.isDirectory(file)) {
      header(name + "/", '5', 0, 0755, "");
    } else {
      long size = Files.size(file);
      header(name, '0', size, Files.isExecutable(file) ? 0755 : 0644, "");
      Files.copy(file, out);
      out.write(new byte[(int) Math.floorMod(-size, (long) BLOCK)]);
    }
  }

  private void header(String name, char type, long size, int mode, String target)
      throws IOException {
    var block = new byte[BLOCK];
    // A name of more than 100 bytes is cut at a slash: up to 155 bytes of it lie elsewhere.
    int cut = name.length() <= 100 ? 0 : name.indexOf('/', name.length() - 101) + 1;
    put(block, 0, 100, name.substring(cut));
    put(block, 345, 155, cut == 0 ? "" : name.substring(0, cut - 1));
    number(block, 100, 8, mode);
    number(block, 108, 8, 0);
    number(block, 116, 8, 0);
    number(block, 124, 12, size);
    number(block, 136, 12, seconds);
    block[156] = (byte) type;
    put(block, 157, 100, target);
    put(block, 257, 8, "ustar\00000");
    put(block, 265, 32, "root");
    put(block, 297, 32, "root");
    put(block, CHECKSUM, 8, "        ");
    int sum = 0;
    for (byte octet : block) {
      sum += octet & 0xff;
    }
    put(block, CHECKSUM, 8, "%06o\0 ".formatted(sum));
    out.write(block);
  }

  private static void number(byte[] block, int at, int length, long value) throws IOException {
    put(block, at, length, ("%0" + (length - 1) + "o").formatted(value));
  }

  private static void put(byte[] block, int at, int length, String text) throws IOException {
    var bytes = text.getBytes(StandardCharsets.UTF_8);
    if (bytes.length > length) {
      throw new IOException("too long for a tar archive: " + text);
    }
    System.arraycopy(bytes, 0, block, at, bytes.length);
  }
}
