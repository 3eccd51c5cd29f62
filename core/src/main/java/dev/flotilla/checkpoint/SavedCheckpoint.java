package dev.flotilla.checkpoint;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Map;
import java.util.zip.CRC32C;

/** A committed checkpoint whose manifest has been checked. */
public final class SavedCheckpoint {

  static final String MODEL = "model.safetensors";
  static final String SHARED = "shared.safetensors";

  private final Path folder;
  private final Manifest manifest;

  private SavedCheckpoint(Path folder, Manifest manifest) {
    this.folder = folder;
    this.manifest = manifest;
  }

  /**
   * Opens a checkpoint's folder and checks its manifest.
   *
   * @throws CheckpointException if it is not a checkpoint or its manifest is damaged
   */
  public static SavedCheckpoint open(Path folder) {
    if (!Files.isDirectory(folder)) {
      throw new CheckpointException(folder + " is not a folder");
    }
    return new SavedCheckpoint(folder, Manifest.read(folder));
  }

  /** Tells whether a folder looks like a checkpoint, be it sound or not. */
  public static boolean isAt(Path folder) {
    return Files.exists(folder.resolve(Manifest.FILE));
  }

  /** Returns the position that a checkpoint's name states. */
  public static Position positionOf(Path folder) {
    return Position.ofFolder(String.valueOf(folder.getFileName()))
        .orElseThrow(() -> new CheckpointException(folder + " is not called like a checkpoint"));
  }

  /** Returns its folder. */
  public Path folder() {
    return folder;
  }

  /** Returns how far the run had come. */
  public Position position() {
    return manifest.position();
  }

  /** Returns the number of ranks that saved it. */
  public int ranks() {
    return manifest.ranks();
  }

  /** Returns what the run was, by key. */
  public Map<String, String> facts() {
    return manifest.facts();
  }

  /** Returns the file that holds the model under its published names. */
  public Path model() {
    return folder.resolve(MODEL);
  }

  static String rankFile(int rank) {
    return "rank-%05d.safetensors".formatted(rank);
  }

  /**
   * Reads all files and compares every byte with the manifest.
   *
   * @throws CheckpointException that names file and place of the first difference
   */
  public void verifyAll() {
    manifest.files().forEach(note -> verify(folder.resolve(note.name()), note));
  }

  /**
   * Reads a file and compares every byte with the manifest.
   *
   * @throws CheckpointException that names file and place of the first difference
   */
  void verify(String name) {
    var note =
        manifest
            .note(name)
            .orElseThrow(
                () -> new CheckpointException(folder + " holds no " + name + " in its manifest"));
    verify(folder.resolve(name), note);
  }

  static void verify(Path file, FileNote note) {
    try (var channel = FileChannel.open(file, StandardOpenOption.READ)) {
      if (channel.size() != note.bytes()) {
        throw new CheckpointException(
            "%s is damaged: it has %d bytes, but should have %d, so that byte %d is the first amiss"
                .formatted(
                    file, channel.size(), note.bytes(), Math.min(channel.size(), note.bytes())));
      }
      verifyBlocks(file, channel, note);
    } catch (IOException e) {
      throw CheckpointException.of("cannot read", file, e);
    }
  }

  private static void verifyBlocks(Path file, FileChannel channel, FileNote note)
      throws IOException {
    var buffer = ByteBuffer.allocateDirect(FileNote.BLOCK);
    var checksum = new CRC32C();
    for (int block = 0; block < note.crc32c().size(); block++) {
      long begin = (long) block * FileNote.BLOCK;
      readBlock(channel, buffer, begin);
      long end = begin + buffer.remaining();
      checksum.reset();
      checksum.update(buffer);
      var found = BlockChecksums.text(checksum.getValue());
      if (!found.equals(note.crc32c().get(block))) {
        throw new CheckpointException(
            "%s is damaged somewhere in bytes [%d, %d): their CRC32C is %s, but should be %s"
                .formatted(file, begin, end, found, note.crc32c().get(block)));
      }
    }
  }

  private static void readBlock(FileChannel channel, ByteBuffer buffer, long begin)
      throws IOException {
    buffer.clear();
    while (buffer.hasRemaining() && channel.read(buffer, begin + buffer.position()) >= 0) {
      // A read may return less than asked for.
    }
    buffer.flip();
  }
}
