package dev.flotilla.checkpoint;

import dev.flotilla.control.PrivateFiles;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The folder that holds a run's checkpoints, and the protocol by which they come and go.
 *
 * <p>A checkpoint is written under another name, brought to the disk, and committed by one rename;
 * it is removed by a rename first, too. Whatever has a checkpoint's name is thus whole, whenever a
 * process or the machine dies.
 */
final class CheckpointStore {

  private static final String SAVING = ".saving-";
  private static final String REMOVING = ".removing-";
  private static final String WRITER = ".writer";
  private static final String ASIDE = "aside-";

  private final Path folder;
  private final Disk disk;

  CheckpointStore(Path folder, Disk disk) {
    this.folder = folder;
    this.disk = disk;
  }

  Path folder() {
    return folder;
  }

  /** Returns the checkpoints that were committed, newest first. */
  List<Path> committed() {
    return list().stream()
        .filter(path -> position(path).isPresent())
        .sorted(Comparator.comparing((Path path) -> position(path).orElseThrow()).reversed())
        .toList();
  }

  private static Optional<Position> position(Path path) {
    return Position.ofFolder(String.valueOf(path.getFileName()));
  }

  private List<Path> list() {
    try (Stream<Path> paths = Files.list(folder)) {
      return paths.toList();
    } catch (NoSuchFileException | NotDirectoryException none) {
      return List.of();
    } catch (IOException e) {
      throw CheckpointException.of("cannot read", folder, e);
    }
  }

  void make() throws IOException {
    if (!Files.isDirectory(folder)) {
      Files.createDirectories(folder, RealDisk.owner("rwx------"));
    }
    PrivateFiles.requireOwn(folder);
  }

  /**
   * Takes possession of the folder and removes what dead writers left half-done.
   *
   * @param writer distinguishes this attempt from all others
   */
  void take(String writer) throws IOException {
    make();
    for (var path : list()) {
      var name = String.valueOf(path.getFileName());
      if (name.startsWith(SAVING) || name.startsWith(REMOVING)) {
        deleteAll(path);
      }
    }
    var mark = folder.resolve(WRITER);
    disk.delete(mark);
    NotedFile.write(
        disk,
        folder,
        "writer",
        out -> out.write(ByteBuffer.wrap(writer.getBytes(StandardCharsets.UTF_8))));
    disk.rename(folder.resolve("writer"), mark);
  }

  /** Tells whether nobody has taken the folder since this writer did. */
  boolean isHeldBy(String writer) {
    try {
      return Files.readString(folder.resolve(WRITER)).equals(writer);
    } catch (IOException e) {
      return false;
    }
  }

  Path staging(Position position, String writer) {
    return folder.resolve(SAVING + position.folderName() + "-" + writer);
  }

  /** Makes the place where all ranks write their parts. */
  void begin(Position position, String writer) throws IOException {
    disk.createFolder(staging(position, writer));
  }

  /** Writes the manifest and gives the checkpoint its name. */
  void commit(String writer, Manifest manifest) throws IOException {
    var position = manifest.position();
    var staging = staging(position, writer);
    manifest.write(disk, staging);
    disk.syncFolder(staging);
    if (!isHeldBy(writer)) {
      throw new IOException("another run has taken over the folder since this one began");
    }
    var target = folder.resolve(position.folderName());
    // One that is made from here on is a later attempt's, which has taken the staged files away.
    boolean isThere = Files.exists(target, LinkOption.NOFOLLOW_LINKS);
    if (isWhole(target)) {
      // Made by an earlier attempt at the same place of the same run; never a moment without one.
      deleteAll(staging);
      return;
    }
    if (isThere) {
      remove(target);
    }
    disk.rename(staging, target);
    disk.syncFolder(folder);
  }

  /**
   * Removes all but the newest checkpoints of a run, and the best one if there is any; those that
   * are known to be bad do not count, and those of another run, from which this one has branched,
   * stay. Where somebody else has taken the folder, everything does.
   */
  void retain(String writer, int keep, String run, List<Path> bad, @Nullable Position best)
      throws IOException {
    int kept = 0;
    for (var checkpoint : isHeldBy(writer) ? committed() : List.<Path>of()) {
      Optional<SavedCheckpoint> sound = sound(checkpoint);
      if (kept < keep) {
        kept += bad.contains(checkpoint) || sound.isEmpty() ? 0 : 1;
      } else if (!position(checkpoint).orElseThrow().equals(best)
          && sound.flatMap(SavedCheckpoint::run).orElse(run).equals(run)) {
        remove(checkpoint);
      }
    }
  }

  private static Optional<SavedCheckpoint> sound(Path checkpoint) {
    try {
      return Optional.of(SavedCheckpoint.open(checkpoint));
    } catch (CheckpointException damaged) {
      return Optional.empty();
    }
  }

  /**
   * Moves checkpoints into a folder of their own, so that a run which goes on before them neither
   * takes them for its own nor loses them.
   *
   * @param which positions that are moved
   * @param companions puts what else belongs to them into that folder, before they are moved
   * @return the folder, if there was anything to move
   */
  Optional<Path> putAside(Predicate<Position> which, Consumer<Path> companions) throws IOException {
    var moved = committed().stream().filter(it -> which.test(position(it).orElseThrow())).toList();
    if (moved.isEmpty()) {
      return Optional.empty();
    }
    int number = 1;
    while (Files.exists(folder.resolve(ASIDE + number), LinkOption.NOFOLLOW_LINKS)) {
      number++;
    }
    var aside = folder.resolve(ASIDE + number);
    disk.createFolder(aside);
    companions.accept(aside);
    for (var checkpoint : moved) {
      disk.rename(checkpoint, aside.resolve(checkpoint.getFileName()));
    }
    disk.syncFolder(aside);
    disk.syncFolder(folder);
    return Optional.of(aside);
  }

  private static boolean isWhole(Path checkpoint) {
    try {
      SavedCheckpoint.open(checkpoint).verifyAll();
      return true;
    } catch (CheckpointException damaged) {
      return false;
    }
  }

  private void remove(Path checkpoint) throws IOException {
    if (Files.notExists(checkpoint, LinkOption.NOFOLLOW_LINKS)) {
      return;
    }
    var doomed = folder.resolve(REMOVING + checkpoint.getFileName());
    deleteAll(doomed);
    disk.rename(checkpoint, doomed);
    // Or else its files might be gone after a loss of power, and its name back.
    disk.syncFolder(folder);
    deleteAll(doomed);
  }

  /** Removes what a save has left that will not be finished. */
  void abandon(Position position, String writer) throws IOException {
    deleteAll(staging(position, writer));
  }

  private void deleteAll(Path path) throws IOException {
    if (Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS)) {
      try (var entries = Files.list(path)) {
        for (var entry : entries.toList()) {
          deleteAll(entry);
        }
      }
    }
    disk.delete(path);
  }
}
