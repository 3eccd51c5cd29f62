package dev.flotilla.checkpoint;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import tools.jackson.core.JacksonException;
import tools.jackson.core.type.TypeReference;
import tools.jackson.databind.json.JsonMapper;

/**
 * How ranks tell rank 0, through the checkpoint's folder, that their parts are written, or why they
 * are not. It needs no collective, so that training goes on meanwhile.
 */
final class PartNotes {

  private static final JsonMapper JSON = JsonMapper.shared();
  private static final TypeReference<List<FileNote>> NOTES = new TypeReference<>() {};

  private final Disk disk;
  private final Path staging;

  PartNotes(Disk disk, Path staging) {
    this.disk = disk;
    this.staging = staging;
  }

  void written(int rank, List<FileNote> notes) throws IOException {
    publish(name(rank, "done"), JSON.writeValueAsString(notes));
  }

  void failed(int rank, String reason) throws IOException {
    publish(name(rank, "failed"), reason.isBlank() ? "unknown" : reason);
  }

  /** A note shows under its name only when it is whole. */
  private void publish(String name, String text) throws IOException {
    var bytes = ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));
    NotedFile.write(disk, staging, name + ".part", out -> out.write(bytes));
    disk.rename(staging.resolve(name + ".part"), staging.resolve(name));
    disk.syncFolder(staging);
  }

  /** Returns what a rank has written, once it has. */
  Optional<List<FileNote>> of(int rank) throws IOException {
    var failed = staging.resolve(name(rank, "failed"));
    if (Files.exists(failed)) {
      throw new IOException("rank %d failed: %s".formatted(rank, Files.readString(failed)));
    }
    var done = staging.resolve(name(rank, "done"));
    if (!Files.exists(done)) {
      return Optional.empty();
    }
    try {
      return Optional.of(JSON.readValue(Files.readString(done), NOTES));
    } catch (JacksonException e) {
      throw new IOException("%s is not a note of files".formatted(done), e);
    }
  }

  void remove(int ranks) throws IOException {
    for (int rank = 0; rank < ranks; rank++) {
      disk.delete(staging.resolve(name(rank, "done")));
    }
  }

  private static String name(int rank, String suffix) {
    return "rank-%05d.%s".formatted(rank, suffix);
  }
}
