package dev.flotilla.checkpoint;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;
import java.util.UUID;

/**
 * Writes a file so that its name stands for the whole new content, the whole old content, or
 * nothing, whenever the process or the machine dies.
 *
 * <p>The content goes to a temporary name in the same folder, to the disk, and is then renamed. The
 * file is readable and writable by its owner alone.
 */
public final class WholeFile {

  private WholeFile() {}

  /** Writes the content of a file. */
  public interface Content {

    /** Writes all of it. */
    void writeTo(FileChannel channel) throws IOException;
  }

  /**
   * Writes a file.
   *
   * @throws CheckpointException if the file system fails
   */
  public static void write(Path file, Content content) {
    var target = file.toAbsolutePath();
    var temporary = target.resolveSibling("." + UUID.randomUUID() + ".tmp");
    try {
      writeAndSync(temporary, content);
      Files.move(temporary, target, StandardCopyOption.ATOMIC_MOVE);
      syncFolder(target);
    } catch (IOException e) {
      throw CheckpointException.of("cannot write", target, e);
    } finally {
      deleteQuietly(temporary);
    }
  }

  private static void writeAndSync(Path temporary, Content content) throws IOException {
    var ownerOnly =
        PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));
    var options = Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
    try (var channel = FileChannel.open(temporary, options, ownerOnly)) {
      content.writeTo(channel);
      channel.force(true);
    }
  }

  /** Makes the new name itself survive a crash of the machine. */
  private static void syncFolder(Path target) throws IOException {
    var folder = target.getParent();
    if (folder != null) {
      try (var channel = FileChannel.open(folder, StandardOpenOption.READ)) {
        channel.force(true);
      }
    }
  }

  /** A leftover must not hide why writing failed; after a rename there is none. */
  private static void deleteQuietly(Path temporary) {
    try {
      Files.deleteIfExists(temporary);
    } catch (IOException e) {
      System.getLogger(WholeFile.class.getName())
          .log(System.Logger.Level.WARNING, "cannot delete " + temporary, e);
    }
  }
}
