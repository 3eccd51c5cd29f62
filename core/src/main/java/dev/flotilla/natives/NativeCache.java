package dev.flotilla.natives;

import dev.flotilla.settings.ConfigException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.file.AtomicMoveNotSupportedException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.nio.file.attribute.UserPrincipal;
import java.util.Comparator;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The folder of unpacked native libraries.
 *
 * <p>They are code, so the folder must belong to the user and be writable by nobody else. What is
 * put into it is made under a lock and appears under its name only when it is whole.
 */
public final class NativeCache {

  /** Makes the content of a folder. */
  @FunctionalInterface
  public interface Content {
    /** Fills an empty folder. */
    void writeTo(Path folder) throws IOException;
  }

  private static final FileAttribute<?> PRIVATE =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));

  private final Path folder;

  private NativeCache(Path folder) {
    this.folder = folder;
  }

  /**
   * Opens the cache and makes it private.
   *
   * @param chosen the folder, or nothing for the usual one
   * @throws ConfigException if others own it or may write to it
   */
  public static NativeCache open(@Nullable String chosen, Map<String, String> environment) {
    var folder = chosen == null ? usualFolder(environment) : Path.of(chosen);
    try {
      Files.createDirectories(folder, PRIVATE);
      requireOwn(folder);
    } catch (IOException failure) {
      throw new ConfigException(
          "native libraries", "cannot use " + folder + ": " + failure + "; set XDG_CACHE_HOME");
    }
    return new NativeCache(folder);
  }

  private static Path usualFolder(Map<String, String> environment) {
    var xdg = environment.getOrDefault("XDG_CACHE_HOME", "");
    var base = xdg.isBlank() ? Path.of(System.getProperty("user.home"), ".cache") : Path.of(xdg);
    return base.resolve("flotilla").resolve("native");
  }

  private static void requireOwn(Path folder) throws IOException {
    UserPrincipal self = Files.getOwner(Path.of("/proc/self"));
    if (isWritableByOthers(folder) || !isOf(folder, self) || isInForeignFolder(folder, self)) {
      throw new ConfigException(
          "native libraries",
          folder
              + " must belong to you and be writable by nobody else: chmod 700 it, or set "
              + "XDG_CACHE_HOME to another folder");
    }
  }

  static boolean isWritableByOthers(Path path) throws IOException {
    var permissions = Files.getPosixFilePermissions(path, LinkOption.NOFOLLOW_LINKS);
    return permissions.contains(PosixFilePermission.GROUP_WRITE)
        || permissions.contains(PosixFilePermission.OTHERS_WRITE);
  }

  /** Whoever owns the folder around it can put another one in its place. */
  private static boolean isInForeignFolder(Path folder, UserPrincipal self) throws IOException {
    Path around = folder.toAbsolutePath().getParent();
    return around != null && !isOf(around, self) && !isOf(around, Files.getOwner(Path.of("/")));
  }

  private static boolean isOf(Path path, UserPrincipal owner) throws IOException {
    return Files.getOwner(path).equals(owner);
  }

  /** Returns the folder of the cache. */
  public Path folder() {
    return folder;
  }

  /** Returns a file or folder of the cache, which need not exist. */
  public Path resolve(String name) {
    return folder.resolve(name);
  }

  /** Does some work while no other process does work here. */
  public void underLock(Content work) {
    try (var channel =
            FileChannel.open(
                folder.resolve("lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        var _ = channel.lock()) {
      work.writeTo(folder);
    } catch (IOException failure) {
      throw new UncheckedIOException("cannot write native libraries into " + folder, failure);
    }
  }

  /** Makes a folder of the cache unless it is there; half of one is never seen. */
  public Path ensure(String name, Content content) {
    var made = folder.resolve(name);
    if (!Files.isDirectory(made)) {
      underLock(
          _ -> {
            if (!Files.isDirectory(made)) {
              make(made, content);
            }
          });
    }
    return made;
  }

  private void make(Path made, Content content) throws IOException {
    var unfinished = Files.createTempDirectory(folder, "unfinished-");
    try {
      content.writeTo(unfinished);
      move(unfinished, made);
    } finally {
      delete(unfinished);
    }
  }

  private static void move(Path from, Path to) throws IOException {
    try {
      Files.move(from, to, StandardCopyOption.ATOMIC_MOVE);
    } catch (AtomicMoveNotSupportedException unusual) {
      Files.move(from, to);
    }
  }

  private static void delete(Path folder) throws IOException {
    if (Files.exists(folder)) {
      try (var files = Files.walk(folder)) {
        for (var file : files.sorted(Comparator.reverseOrder()).toList()) {
          Files.delete(file);
        }
      }
    }
  }
}
