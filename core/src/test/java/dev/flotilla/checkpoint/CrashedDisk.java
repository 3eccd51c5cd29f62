package dev.flotilla.checkpoint;

import dev.flotilla.checkpoint.RecordingDisk.Operation;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.BooleanSupplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * What a disk may hold after power was lost, as pessimistic as POSIX allows: of a file, what was
 * synced and any part of the rest, or zeros in its place; of a folder's names, what was synced and
 * any subset of the later changes, in any order.
 */
final class CrashedDisk {

  private sealed interface Node {}

  private static final class FileNode implements Node {
    private byte[] synced = {};
    private final ByteArrayOutputStream written = new ByteArrayOutputStream();
  }

  private static final class FolderNode implements Node {
    private final Map<String, Node> synced = new LinkedHashMap<>();
    private final Map<String, Node> now = new LinkedHashMap<>();
    private final List<Map<String, @Nullable Node>> unsynced = new ArrayList<>();

    void change(Map<String, @Nullable Node> names) {
      unsynced.add(names);
      apply(now, names);
    }

    void sync() {
      synced.clear();
      synced.putAll(now);
      unsynced.clear();
    }
  }

  private final Path root;
  private final FolderNode top = new FolderNode();

  CrashedDisk(Path root) {
    this.root = root;
  }

  private static void apply(Map<String, Node> target, Map<String, @Nullable Node> names) {
    names.forEach(
        (name, node) -> {
          if (node == null) {
            target.remove(name);
          } else {
            target.put(name, node);
          }
        });
  }

  void play(Operation operation) {
    switch (operation) {
      case Operation.CreateFolder(var folder) -> put(folder, new FolderNode());
      case Operation.Create(var file) -> put(file, new FileNode());
      case Operation.Write(var file, var bytes) -> file(file).written.writeBytes(bytes);
      case Operation.Sync(var file) -> file(file).synced = file(file).written.toByteArray();
      case Operation.Rename(var from, var to) -> rename(from, to);
      case Operation.Delete(var path) -> put(path, null);
      case Operation.SyncFolder(var folder) -> folder(folder).sync();
    }
  }

  private void put(Path path, @Nullable Node node) {
    Map<String, @Nullable Node> names = new LinkedHashMap<>();
    names.put(name(path), node);
    parent(path).change(names);
  }

  /** All renames of a save stay in one folder: old and new name change together. */
  private void rename(Path from, Path to) {
    assert Objects.equals(from.getParent(), to.getParent());
    Map<String, @Nullable Node> names = new LinkedHashMap<>();
    names.put(name(from), null);
    names.put(name(to), parent(from).now.get(name(from)));
    parent(from).change(names);
  }

  private static String name(Path path) {
    return String.valueOf(path.getFileName());
  }

  private FolderNode parent(Path path) {
    return folder(Objects.requireNonNull(path.getParent()));
  }

  private FolderNode folder(Path path) {
    var folder = top;
    for (var part : root.relativize(path)) {
      if (!part.toString().isEmpty()) {
        folder = (FolderNode) Objects.requireNonNull(folder.now.get(part.toString()));
      }
    }
    return folder;
  }

  private FileNode file(Path path) {
    return (FileNode) Objects.requireNonNull(parent(path).now.get(name(path)));
  }

  /** Tells whether there is nothing that a loss of power could take. */
  boolean isSettled() {
    return isSettled(top);
  }

  private static boolean isSettled(Node node) {
    return switch (node) {
      case FileNode file -> Arrays.equals(file.synced, file.written.toByteArray());
      case FolderNode folder ->
          folder.unsynced.isEmpty()
              && folder.now.values().stream().allMatch(CrashedDisk::isSettled);
    };
  }

  /**
   * Writes one of the possible states.
   *
   * @param survives whether the next change that was not synced is there
   */
  void materialize(Path target, BooleanSupplier survives, RandomGenerator random)
      throws IOException {
    materialize(top, target, survives, random);
  }

  private static void materialize(
      FolderNode folder, Path target, BooleanSupplier survives, RandomGenerator random)
      throws IOException {
    Map<String, Node> names = new LinkedHashMap<>(folder.synced);
    for (var change : folder.unsynced) {
      if (survives.getAsBoolean()) {
        apply(names, change);
      }
    }
    Files.createDirectories(target);
    for (var entry : names.entrySet()) {
      var path = target.resolve(entry.getKey());
      switch (entry.getValue()) {
        case FolderNode inner -> materialize(inner, path, survives, random);
        case FileNode file -> Files.write(path, content(file, survives, random));
      }
    }
  }

  private static byte[] content(FileNode file, BooleanSupplier survives, RandomGenerator random) {
    byte[] all = file.written.toByteArray();
    if (survives.getAsBoolean() || all.length == file.synced.length) {
      return all;
    }
    return switch (random.nextInt(3)) {
      case 0 -> file.synced;
      case 1 -> Arrays.copyOf(all, random.nextInt(file.synced.length, all.length));
      default -> Arrays.copyOf(file.synced, all.length);
    };
  }
}
