package dev.flotilla.zoo.rows;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.flotilla.data.SampleForm;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.memory.Tensors;
import dev.flotilla.settings.ConfigException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.HexFormat;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Rows come back as they were written, from whichever file they are in, or the file is named. */
class RowFolderTests {

  private static final int COLUMNS = 3;

  @TempDir Path folder;

  @BeforeEach
  void write() throws Exception {
    var first = write("train-00000.rows", 0, 4);
    var empty = write("train-00001.rows", 4, 0);
    var second = write("train-00002.rows", 4, 2);
    var test = write("test-00000.rows", 6, 1);
    Files.writeString(
        folder.resolve("rows.manifest"),
        "flotilla rows 1\ncolumns 3\nclasses 5\ntrain train-00000.rows 4 %s\n".formatted(first)
            + "train train-00001.rows 0 %s\ntrain train-00002.rows 2 %s\ntest test-00000.rows 1 %s\n"
                .formatted(empty, second, test));
  }

  /** Row r has the numbers r, r + 0.25, r + 0.5, and the class r mod 5. */
  private String write(String name, int from, int rows)
      throws IOException, GeneralSecurityException {
    var bytes = ByteBuffer.allocate(rows * (COLUMNS + 1) * 4).order(ByteOrder.LITTLE_ENDIAN);
    for (int row = from; row < from + rows; row++) {
      bytes.putFloat(row).putFloat(row + 0.25f).putFloat(row + 0.5f).putInt(row % 5);
    }
    Files.write(folder.resolve(name), bytes.array());
    var digest = MessageDigest.getInstance("SHA-256").digest(bytes.array());
    return HexFormat.of().formatHex(digest);
  }

  @Test
  void rowsOfAllFilesAreNumberedInTheOrderOfTheList() {
    var source = new RowFolder(folder);
    source.check();
    assertThat(source.form()).hasValue(new SampleForm.Numbers(3, 5));
    assertThat(source.trainingSize()).hasValue(6);
    var train = source.train();
    assertThat(train.size()).isEqualTo(6);
    try (var _ = TensorScope.open()) {
      var batch = train.load(new int[] {5, 0, 4, 3});
      assertThat(Tensors.toFloats(batch.inputs().getFirst()))
          .containsExactly(5, 5.25f, 5.5f, 0, 0.25f, 0.5f, 4, 4.25f, 4.5f, 3, 3.25f, 3.5f);
      assertThat(Tensors.toLongs(batch.targets())).containsExactly(0, 0, 4, 3);
      assertThat(Tensors.toLongs(source.test().load(new int[] {0}).targets())).containsExactly(1);
    }
  }

  @Test
  void aFileThatHasChangedIsNamed() throws IOException {
    var file = folder.resolve("train-00002.rows");
    var bytes = Files.readAllBytes(file);
    bytes[0]++;
    Files.write(file, bytes);
    new RowFolder(folder).check();
    assertThatThrownBy(() -> new RowFolder(folder).train())
        .isInstanceOf(ConfigException.class)
        .hasMessageContainingAll("train-00002.rows", "its SHA-256 is", "when it was written");
  }

  @Test
  void aFileThatWasCutIsNamedBeforeAnythingStarts() throws IOException {
    Files.write(folder.resolve("train-00000.rows"), new byte[15]);
    assertThatThrownBy(() -> new RowFolder(folder).check())
        .hasMessageContainingAll("train-00000.rows", "has 15 bytes, but 4 rows take 64");
  }

  @Test
  void aFolderThatIsNotWholeIsRefused() throws IOException {
    var manifest = folder.resolve("rows.manifest");
    Files.writeString(manifest, "flotilla rows 1\ncolumns 3\nclasses 5\ntrain ../x 4 abc\n");
    assertThatThrownBy(() -> new RowFolder(folder).check())
        .hasMessageContainingAll("line 4", "must be 'train|test FILE ROWS SHA256'");
    Files.delete(manifest);
    assertThatThrownBy(() -> new RowFolder(folder).check())
        .hasMessageContainingAll("rows.manifest", "no such file");
  }
}
