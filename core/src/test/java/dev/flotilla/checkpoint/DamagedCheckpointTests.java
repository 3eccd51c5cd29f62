package dev.flotilla.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** No byte of a checkpoint can change unnoticed; the message says where it did. */
@Tag("slow")
class DamagedCheckpointTests {

  private static final int RANKS = 3;
  private static final int FLIPS = Integer.getInteger("flotilla.test.flips", 1000);

  @TempDir Path folder;
  private Path checkpoint = Path.of("");
  private Path older = Path.of("");

  @BeforeEach
  void save() {
    var saved = new SavedFolder(folder, new RealDisk(), RANKS, 3, 20_000);
    saved.take("writer");
    assertThat(saved.save(1, "writer")).isEmpty();
    assertThat(saved.save(2, "writer")).isEmpty();
    checkpoint = folder.resolve(SavedFolder.position(2).folderName());
    older = folder.resolve(SavedFolder.position(1).folderName());
    load();
  }

  /** Loads for all ranks as a resumed run does. */
  private void load() {
    for (int rank = 0; rank < RANKS; rank++) {
      var saved = SavedCheckpoint.open(checkpoint);
      var state = TextState.empty();
      Restorer.restore(saved, rank, RANKS, List.of(state))
          .ifPresent(
              damage -> {
                throw damage;
              });
      assertThat(state.isOf(SavedFolder.position(2), rank)).isTrue();
    }
  }

  private List<Path> files() throws IOException {
    try (var files = Files.list(checkpoint)) {
      return files.sorted().toList();
    }
  }

  private void assertNamesPlace(Path file) {
    var thrown = catchThrowable(this::load);
    assertThat(thrown).as("%s was changed", file).isInstanceOf(CheckpointException.class);
    assertThat(thrown).hasMessageContaining(checkpoint.toString());
    assertThat(thrown.getMessage()).containsPattern("byte|bytes|no such file");
  }

  @Test
  void noFlippedBitIsOverlooked() throws IOException {
    var random = new SplittableRandom(7);
    for (int i = 0; i < FLIPS; i++) {
      var file = files().get(random.nextInt(files().size()));
      byte[] whole = Files.readAllBytes(file);
      byte[] flipped = whole.clone();
      int at = random.nextInt(whole.length);
      flipped[at] ^= (byte) (1 << random.nextInt(8));
      Files.write(file, flipped);
      assertNamesPlace(file);
      Files.write(file, whole);
    }
    load();
  }

  @Test
  void noTruncationIsOverlooked() throws IOException {
    for (var file : files()) {
      byte[] whole = Files.readAllBytes(file);
      for (int length = 0; length < whole.length; length += 512) {
        Files.write(file, Arrays.copyOf(whole, length));
        assertNamesPlace(file);
      }
      Files.write(file, Arrays.copyOf(whole, whole.length + 1));
      assertNamesPlace(file);
      Files.write(file, whole);
    }
    load();
  }

  @Test
  void missingFilesAreNamed() throws IOException {
    for (var file : files()) {
      byte[] whole = Files.readAllBytes(file);
      Files.delete(file);
      assertThatThrownBy(this::load).hasMessageContaining(String.valueOf(file.getFileName()));
      Files.write(file, whole);
    }
  }

  @Test
  void partsOfOtherRanksAndStepsAreForeign() throws IOException {
    var first = checkpoint.resolve(SavedCheckpoint.rankFile(0));
    var second = checkpoint.resolve(SavedCheckpoint.rankFile(1));
    byte[] one = Files.readAllBytes(first);
    byte[] two = Files.readAllBytes(second);
    Files.write(first, two);
    Files.write(second, one);
    assertNamesPlace(first);
    Files.write(first, one);
    Files.write(second, two);

    for (var name : List.of(SavedCheckpoint.MODEL, SavedCheckpoint.SHARED, Manifest.FILE)) {
      byte[] whole = Files.readAllBytes(checkpoint.resolve(name));
      Files.write(checkpoint.resolve(name), Files.readAllBytes(older.resolve(name)));
      assertNamesPlace(checkpoint.resolve(name));
      Files.write(checkpoint.resolve(name), whole);
    }
    load();
  }

  @Test
  void saysWhichBytesAreDamaged() throws IOException {
    var model = checkpoint.resolve(SavedCheckpoint.MODEL);
    byte[] bytes = Files.readAllBytes(model);
    bytes[1000]++;
    Files.write(model, bytes);
    assertThatThrownBy(this::load)
        .hasMessageMatching(
            ".*model.safetensors is damaged somewhere in bytes \\[0, %d\\): their CRC32C is .*"
                .formatted(bytes.length));
  }

  @Test
  void aManifestOfAnotherVersionSaysWhichOneIsRead() throws IOException {
    var text = Files.readString(checkpoint.resolve(Manifest.FILE));
    var other = text.replace("\"version\" : 2", "\"version\" : 3");
    Files.writeString(checkpoint.resolve(Manifest.FILE), other);
    var digest = Digests.sha256(other.getBytes(java.nio.charset.StandardCharsets.UTF_8));
    Files.writeString(checkpoint.resolve(Manifest.DIGEST_FILE), digest + "  manifest.json\n");
    assertThatThrownBy(this::load).hasMessageContaining("version 3; this program reads");
  }

  @Test
  void aManifestCannotNameFilesOutside() throws IOException {
    var text = Files.readString(checkpoint.resolve(Manifest.FILE));
    var other = text.replace("\"model.safetensors\"", "\"../model.safetensors\"");
    Files.writeString(checkpoint.resolve(Manifest.FILE), other);
    var digest = Digests.sha256(other.getBytes(java.nio.charset.StandardCharsets.UTF_8));
    Files.writeString(checkpoint.resolve(Manifest.DIGEST_FILE), digest + "  manifest.json\n");
    assertThatThrownBy(this::load)
        .isInstanceOf(CheckpointException.class)
        .hasMessageContaining("../model.safetensors");
  }
}
