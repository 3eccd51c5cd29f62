package dev.flotilla.train;

import dev.flotilla.settings.ConfigException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Set;

/**
 * Keeps a second run out of a folder that one is writing to.
 *
 * <p>A lock on a file in the folder, which the kernel frees when its process ends, however it does.
 * The file stays: whoever deleted it could let two processes lock two files of that name. It says
 * which process had the lock last.
 */
public final class FolderLock implements AutoCloseable {

  private static final String FILE = ".lock";
  private static final Duration POLL = Duration.ofMillis(20);
  private static final int LONGEST_NAME = 300;

  /** Who locks: a launcher and its rank 0 hold a folder together. */
  enum Holder {
    /** Writes to the folder. */
    WRITER,
    /** Starts, again and again, those that write to it. */
    LAUNCHER
  }

  private final Path folder;
  private final FileChannel channel;

  private FolderLock(Path folder, FileChannel channel) {
    this.folder = folder;
    this.channel = channel;
  }

  /**
   * Locks a folder that exists for the one who writes to it.
   *
   * @param key what named the folder
   * @throws ConfigException if somebody else has locked it
   */
  static FolderLock ofWriter(Path folder, String key) throws IOException {
    var lock = open(folder);
    lock.orRefuse(key, lock.tryLock(Holder.WRITER));
    lock.signOn();
    return lock;
  }

  /**
   * Locks a folder that exists for a launcher. Ranks of a launcher that was killed end within a few
   * seconds, so it waits for these.
   *
   * @param key what named the folder
   * @throws ConfigException if somebody else has locked it
   */
  static FolderLock ofLauncher(Path folder, String key, Duration patience) throws IOException {
    var lock = open(folder);
    lock.orRefuse(key, lock.tryLock(Holder.LAUNCHER));
    lock.orRefuse(key, lock.awaitNoWriter(patience));
    lock.signOn();
    return lock;
  }

  private static FolderLock open(Path folder) throws IOException {
    var options =
        Set.of(StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
    return new FolderLock(
        folder, FileChannel.open(folder.resolve(FILE), options, RunPaths.owner("rw-------")));
  }

  private void orRefuse(String key, boolean isLocked) throws IOException {
    if (!isLocked) {
      var holder = holder();
      channel.close();
      throw new ConfigException(
          key, "%s is in use by %s; wait until it has ended, or stop it".formatted(folder, holder));
    }
  }

  /** Where the file system knows no locks, a run must still be possible. */
  private boolean tryLock(Holder holder) {
    try {
      return channel.tryLock(holder.ordinal(), 1, false) != null;
    } catch (OverlappingFileLockException _) {
      return false; // somebody else in this process
    } catch (IOException unsupported) {
      System.getLogger(FolderLock.class.getName())
          .log(
              System.Logger.Level.WARNING,
              "cannot lock %s (%s): do not start a second run there"
                  .formatted(folder, unsupported));
      return true;
    }
  }

  private boolean awaitNoWriter(Duration patience) throws IOException {
    long end = System.nanoTime() + patience.toNanos();
    while (true) {
      try (var lock = channel.tryLock(Holder.WRITER.ordinal(), 1, false)) {
        if (lock != null) {
          return true;
        }
      } catch (OverlappingFileLockException _) {
        // as if it were another process
      } catch (IOException _) {
        return true; // said when the launcher locked
      }
      if (System.nanoTime() > end) {
        return false;
      }
      pause();
    }
  }

  private static void pause() throws IOException {
    try {
      Thread.sleep(POLL);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted while waiting for a lock", e);
    }
  }

  private void signOn() throws IOException {
    var text = "process %d".formatted(ProcessHandle.current().pid());
    channel.truncate(0);
    channel.write(ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8)), 0);
  }

  /** Read through the same channel: closing another one would free the locks of this process. */
  private String holder() throws IOException {
    var bytes = ByteBuffer.allocate(LONGEST_NAME);
    int length = channel.read(bytes, 0);
    return length <= 0
        ? "another process"
        : new String(bytes.array(), 0, length, StandardCharsets.UTF_8);
  }

  /** Removes the file itself, from a folder in which no run was started. */
  public void delete() throws IOException {
    Files.deleteIfExists(folder.resolve(FILE));
  }

  @Override
  public void close() throws IOException {
    channel.close();
  }
}
