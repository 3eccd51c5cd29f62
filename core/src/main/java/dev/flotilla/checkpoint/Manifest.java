package dev.flotilla.checkpoint;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.PropertyNamingStrategies;
import tools.jackson.databind.json.JsonMapper;

/**
 * What {@code manifest.json} of a checkpoint says.
 *
 * <p>A second file holds its own digest, in the form that {@code sha256sum -c} reads, so that every
 * byte of a checkpoint is covered.
 *
 * @param format always {@value #FORMAT}
 * @param version of the format
 * @param updates updates made
 * @param microSteps micro-steps made
 * @param ranks number of ranks that saved
 * @param run whose checkpoint it is; null in those of versions that did not say
 * @param facts what the run was, by key
 * @param files all files but the manifest's own two
 */
record Manifest(
    String format,
    int version,
    long updates,
    long microSteps,
    int ranks,
    @Nullable String run,
    Map<String, String> facts,
    List<FileNote> files) {

  static final String FILE = "manifest.json";
  static final String DIGEST_FILE = "manifest.json.sha256";
  private static final String FORMAT = "flotilla-checkpoint";

  /** Since 2, a rank may hold slices of what is equal on all ranks; the rest is as in 1. */
  private static final int VERSION = 2;

  private static final long LARGEST = 64L << 20;

  private static final JsonMapper JSON =
      JsonMapper.builder().propertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE).build();

  static Manifest of(
      Position position, int ranks, String run, Map<String, String> facts, List<FileNote> files) {
    return new Manifest(
        FORMAT, VERSION, position.updates(), position.microSteps(), ranks, run, facts, files);
  }

  Position position() {
    return new Position(updates, microSteps);
  }

  Optional<FileNote> note(String name) {
    return files.stream().filter(file -> file.name().equals(name)).findFirst();
  }

  void write(Disk disk, Path folder) throws IOException {
    byte[] text =
        (JSON.writerWithDefaultPrettyPrinter().writeValueAsString(this) + "\n")
            .getBytes(StandardCharsets.UTF_8);
    NotedFile.write(disk, folder, FILE, writer -> writer.write(ByteBuffer.wrap(text)));
    byte[] digest = digestLine(text).getBytes(StandardCharsets.UTF_8);
    NotedFile.write(disk, folder, DIGEST_FILE, writer -> writer.write(ByteBuffer.wrap(digest)));
  }

  private static String digestLine(byte[] text) {
    return Digests.sha256(text) + "  " + FILE + "\n";
  }

  /**
   * Reads and checks the manifest of a folder.
   *
   * @throws CheckpointException if it is missing, damaged, or of another format
   */
  static Manifest read(Path folder) {
    var file = folder.resolve(FILE);
    byte[] text = bytes(file);
    var digestFile = folder.resolve(DIGEST_FILE);
    var stated = new String(bytes(digestFile), StandardCharsets.ISO_8859_1);
    if (!stated.equals(digestLine(text))) {
      throw new CheckpointException(
          "%s is damaged somewhere in bytes [0, %d), or %s is: its SHA-256 is %s, but should be %s"
              .formatted(
                  file, text.length, DIGEST_FILE, Digests.sha256(text), TensorName.quote(stated)));
    }
    return parse(file, text);
  }

  private static byte[] bytes(Path file) {
    try {
      if (Files.size(file) > LARGEST) {
        throw new CheckpointException(file + " is too large for a manifest");
      }
      return Files.readAllBytes(file);
    } catch (IOException e) {
      throw CheckpointException.of("cannot read", file, e);
    }
  }

  private static Manifest parse(Path file, byte[] text) {
    try {
      var manifest = JSON.readValue(text, Manifest.class);
      if (!FORMAT.equals(manifest.format) || manifest.version < 1 || manifest.version > VERSION) {
        throw new CheckpointException(
            "%s is of format %s, version %d; this program reads %s up to version %d"
                .formatted(file, manifest.format, manifest.version, FORMAT, VERSION));
      }
      return manifest;
    } catch (JacksonException e) {
      throw new CheckpointException(file + " is not a manifest: " + e.getOriginalMessage());
    }
  }
}
