package dev.flotilla.board.live;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Finds the runs below a folder and gives each an id, the newest first. Links are not followed:
 * what a link leads to was not asked for.
 */
final class RunFolders {

  static final int MOST_RUNS = 1000;
  private static final int DEPTH = 4;
  private static final int MOST_FOLDERS = 20_000;

  private final Path root;
  private int looked;

  RunFolders(Path root) {
    this.root = root;
  }

  /** Returns the folders of runs by their ids. */
  Map<String, Path> find() {
    Map<String, Path> found = new LinkedHashMap<>();
    looked = 0;
    look(root, DEPTH, found);
    return found;
  }

  private void look(Path folder, int depth, Map<String, Path> found) {
    if (found.size() >= MOST_RUNS || looked++ >= MOST_FOLDERS) {
      return;
    }
    if (isRun(folder)) {
      found.put(id(folder), folder);
    } else if (depth > 0) {
      try (var inside = Files.newDirectoryStream(folder, RunFolders::isFolder)) {
        List<Path> sorted = new ArrayList<>();
        inside.forEach(sorted::add);
        sorted.sort(Comparator.reverseOrder()); // names begin with a time: the newest first
        sorted.forEach(it -> look(it, depth - 1, found));
      } catch (IOException unreadable) {
        // somebody else's, or gone
      }
    }
  }

  private static boolean isFolder(Path path) {
    return Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS)
        && !path.getFileName().toString().startsWith(".");
  }

  /** A run's own folders hold copies of its events, so nobody looks into one. */
  private static boolean isRun(Path folder) {
    return Files.isRegularFile(folder.resolve("events.jsonl"), LinkOption.NOFOLLOW_LINKS);
  }

  /** The same for the same folder, so that a page finds its run again after the board restarted. */
  private String id(Path folder) {
    try {
      var name = root.relativize(folder).toString().getBytes(StandardCharsets.UTF_8);
      return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(name), 0, 8);
    } catch (NoSuchAlgorithmException impossible) {
      throw new IllegalStateException("every JDK has SHA-256", impossible);
    }
  }
}
