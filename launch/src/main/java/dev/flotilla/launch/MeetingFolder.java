package dev.flotilla.launch;

import dev.flotilla.control.PrivateFiles;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.UserPrincipal;
import java.time.Duration;
import java.time.Instant;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A private temporary folder in which the ranks of one launch meet and leave their error files.
 *
 * <p>It goes away with {@link #close()}. A launcher that is killed cannot do so; the next one
 * removes what it left. A lock that the kernel drops with its process tells the two apart.
 *
 * <p>Others may put what they like beside it, under the same name: a link that leads elsewhere, or
 * a pipe that nobody ever opens at its other end. Only a folder that this user has made, and that
 * nobody else can change, is looked into.
 */
final class MeetingFolder implements AutoCloseable {

  private static final String PREFIX = "flotilla-launch-";
  private static final String LOCK = "lock";

  /** A younger folder may belong to a launcher that has not taken its lock yet. */
  private static final Duration SETTLED = Duration.ofMinutes(1);

  private final Path folder;
  private final FileChannel lock;
  private final Consumer<String> warnings;

  private MeetingFolder(Path folder, FileChannel lock, Consumer<String> warnings) {
    this.folder = folder;
    this.lock = lock;
    this.warnings = warnings;
  }

  /** Makes a folder of mode 0700 under the given one, and removes what dead launchers left. */
  static MeetingFolder create(Path temporary, Consumer<String> warnings) throws IOException {
    Path folder = Files.createTempDirectory(temporary, PREFIX);
    removeAbandoned(temporary, Files.getOwner(folder, LinkOption.NOFOLLOW_LINKS));
    FileChannel channel = PrivateFiles.openEmpty(folder.resolve(LOCK));
    channel.lock();
    return new MeetingFolder(folder, channel, warnings);
  }

  Path path() {
    return folder;
  }

  /** Every attempt meets in a file of its own: a store must not hold what another one left. */
  Path rendezvousFile(int attempt) {
    return folder.resolve(attempt == 0 ? "rendezvous" : "rendezvous." + attempt);
  }

  Path errorFile(int localRank, int attempt) {
    return folder.resolve("error.%d.%d".formatted(attempt, localRank));
  }

  @Override
  public void close() {
    try (lock) {
      PrivateFiles.deleteFolder(folder);
    } catch (IOException e) {
      warnings.accept("cannot remove the temporary folder %s: %s".formatted(folder, e));
    }
  }

  private static void removeAbandoned(Path temporary, UserPrincipal self) throws IOException {
    try (DirectoryStream<Path> folders = Files.newDirectoryStream(temporary, PREFIX + "*")) {
      for (Path folder : folders) {
        removeIfAbandoned(folder, self);
      }
    }
  }

  private static void removeIfAbandoned(Path folder, UserPrincipal self) {
    Path file = folder.resolve(LOCK);
    try {
      if (!PrivateFiles.isFolderOf(self, folder) || !PrivateFiles.isFileOf(self, file)) {
        return;
      }
      try (FileChannel channel = PrivateFiles.openExisting(file)) {
        Instant made = Files.getLastModifiedTime(file, LinkOption.NOFOLLOW_LINKS).toInstant();
        if (made.isBefore(Instant.now().minus(SETTLED)) && tryLock(channel) != null) {
          PrivateFiles.deleteFolder(folder);
        }
      }
    } catch (IOException e) {
      // Another launcher was faster: not ours to remove.
    }
  }

  private static @Nullable FileLock tryLock(FileChannel channel) throws IOException {
    try {
      return channel.tryLock();
    } catch (OverlappingFileLockException e) {
      return null;
    }
  }
}
