package dev.flotilla.checkpoint;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.HexFormat;

/** Writes a file and notes size and checksums on the way. */
final class NotedFile implements AutoCloseable {

  private final Disk.NewFile file;
  private final String name;
  private final MessageDigest sha256 = Digests.newSha256();
  private final BlockChecksums checksums = new BlockChecksums();
  private long bytes;

  private NotedFile(Disk.NewFile file, String name) {
    this.file = file;
    this.name = name;
  }

  /** Writes a content, makes it survive a loss of power and returns what the manifest says. */
  static FileNote write(Disk disk, Path folder, String name, Content content) throws IOException {
    try (var file = new NotedFile(disk.create(folder.resolve(name)), name)) {
      content.writeTo(file::append);
      file.file.sync();
      return file.note();
    }
  }

  private void append(ByteBuffer chunk) throws IOException {
    bytes += chunk.remaining();
    sha256.update(chunk.duplicate());
    checksums.update(chunk.duplicate());
    file.write(chunk);
  }

  private FileNote note() {
    return new FileNote(
        name, bytes, HexFormat.of().formatHex(sha256.digest()), checksums.finished());
  }

  @Override
  public void close() throws IOException {
    file.close();
  }

  /** Writes itself piece by piece. */
  interface Content {
    void writeTo(ChunkWriter writer) throws IOException;
  }

  /** Takes some bytes. */
  interface ChunkWriter {
    void write(ByteBuffer bytes) throws IOException;
  }
}
