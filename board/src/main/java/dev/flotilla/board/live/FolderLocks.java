package dev.flotilla.board.live;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * Which run folders are held by a process of this host, as the kernel lists it. Trying to lock
 * would tell as well, but might keep out a run that starts at that moment.
 *
 * @param inodes of all files that are locked
 * @param isKnown whether the kernel could be asked
 */
record FolderLocks(Set<Long> inodes, boolean isKnown) {

  /** {@code 1: POSIX ADVISORY WRITE 4711 fe:01:1835022 0 0}. */
  private static final Pattern LINE =
      Pattern.compile("\\d+: +\\w+ +\\w+ +\\w+ +-?\\d+ +[0-9a-f]+:[0-9a-f]+:(\\d+) .*");

  static FolderLocks now() {
    return of(Path.of("/proc/locks"));
  }

  static FolderLocks of(Path list) {
    try {
      Set<Long> inodes = new HashSet<>();
      for (var line : Files.readAllLines(list)) {
        var matcher = LINE.matcher(line);
        if (matcher.matches()) {
          inodes.add(Long.parseLong(matcher.group(1)));
        }
      }
      return new FolderLocks(Set.copyOf(inodes), true);
    } catch (IOException unknown) {
      return new FolderLocks(Set.of(), false);
    }
  }

  /** Tells whether a process of this host holds a folder; nothing if that cannot be known. */
  Optional<Boolean> isHeld(Path folder) {
    if (!isKnown) {
      return Optional.empty();
    }
    try {
      var inode =
          Files.getAttribute(folder.resolve(".lock"), "unix:ino", LinkOption.NOFOLLOW_LINKS);
      return Optional.of(inode instanceof Long number && inodes.contains(number));
    } catch (IOException | UnsupportedOperationException | IllegalArgumentException none) {
      return Optional.empty();
    }
  }
}
