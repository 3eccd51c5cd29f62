package dev.flotilla.control;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.nio.file.attribute.UserPrincipal;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Makes files and folders that only their owner can read, where the file system knows owners. */
public final class PrivateFiles {

  private static final String FILE_MODE = "rw-------";
  private static final String FOLDER_MODE = "rwx------";

  private PrivateFiles() {}

  /**
   * Opens an empty file of mode 0600, replacing the content of one that exists; follows no link.
   */
  public static OutputStream newFile(Path file) throws IOException {
    return Channels.newOutputStream(openEmpty(file));
  }

  /** Opens such a file at its end, keeping its content. */
  public static OutputStream appendTo(Path file) throws IOException {
    return Channels.newOutputStream(open(file, StandardOpenOption.APPEND));
  }

  /** Opens such a file as a channel. */
  public static FileChannel openEmpty(Path file) throws IOException {
    return open(file, StandardOpenOption.TRUNCATE_EXISTING);
  }

  /** Opens a file that exists for writing; follows no link. */
  public static FileChannel openExisting(Path file) throws IOException {
    return FileChannel.open(file, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS);
  }

  /** Tells whether a path is a folder, not a link to one, that its owner alone can use. */
  public static boolean isFolderOf(UserPrincipal owner, Path folder) throws IOException {
    PosixFileAttributes found = attributes(folder);
    return found.isDirectory()
        && found.owner().equals(owner)
        && found.permissions().equals(PosixFilePermissions.fromString(FOLDER_MODE));
  }

  /** Tells whether a path is a regular file, not a link to one, of this owner. */
  public static boolean isFileOf(UserPrincipal owner, Path file) throws IOException {
    PosixFileAttributes found = attributes(file);
    return found.isRegularFile() && found.owner().equals(owner);
  }

  private static PosixFileAttributes attributes(Path path) throws IOException {
    return Files.readAttributes(path, PosixFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
  }

  private static FileChannel open(Path file, OpenOption content) throws IOException {
    if (isSomethingElse(file)) {
      // To open a pipe would wait for whoever reads it, for ever.
      throw new IOException(
          "%s is no regular file; remove it, or name another folder".formatted(file));
    }
    Set<OpenOption> options =
        Set.of(
            StandardOpenOption.CREATE,
            StandardOpenOption.WRITE,
            content,
            LinkOption.NOFOLLOW_LINKS);
    FileChannel channel = FileChannel.open(file, options, mode(file, FILE_MODE));
    if (knowsOwners(file)) {
      Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(FILE_MODE));
    }
    return channel;
  }

  private static boolean isSomethingElse(Path file) {
    return Files.exists(file, LinkOption.NOFOLLOW_LINKS)
        && !Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS);
  }

  /**
   * Makes a folder and its parents, the new ones with mode 0700.
   *
   * @throws IOException also if the folder exists and belongs to somebody else
   */
  public static void createFolders(Path folder) throws IOException {
    Files.createDirectories(folder, mode(folder.toAbsolutePath(), FOLDER_MODE));
    requireOwn(folder);
  }

  /**
   * Makes sure that a folder, and a link that leads to it, belong to this user: whoever owns it can
   * exchange what is written there.
   */
  public static void requireOwn(Path folder) throws IOException {
    if (!isOwn(folder) || !isOwn(folder, LinkOption.NOFOLLOW_LINKS)) {
      throw new IOException(
          "%s belongs to %s; name a folder of your own".formatted(folder, Files.getOwner(folder)));
    }
  }

  /** Tells whether a path belongs to the user of this process, where that can be known. */
  static boolean isOwn(Path path, LinkOption... options) throws IOException {
    Path self = Path.of("/proc/self");
    return !knowsOwners(path)
        || !Files.exists(self)
        || Files.getOwner(path, options).equals(Files.getOwner(self));
  }

  /** Deletes a folder with all it holds; follows no link. */
  public static void deleteFolder(Path folder) throws IOException {
    Files.walkFileTree(
        folder,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes attributes)
              throws IOException {
            Files.deleteIfExists(file);
            return FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult postVisitDirectory(Path visited, @Nullable IOException failure)
              throws IOException {
            Files.deleteIfExists(visited);
            return FileVisitResult.CONTINUE;
          }
        });
  }

  private static FileAttribute<?>[] mode(Path path, String mode) {
    return knowsOwners(path)
        ? new FileAttribute<?>[] {
          PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(mode))
        }
        : new FileAttribute<?>[0];
  }

  private static boolean knowsOwners(Path path) {
    return path.getFileSystem().supportedFileAttributeViews().contains("posix");
  }
}
