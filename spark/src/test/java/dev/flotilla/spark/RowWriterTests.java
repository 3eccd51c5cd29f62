package dev.flotilla.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.List;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import scala.jdk.javaapi.CollectionConverters;

/** Numbers and classes of rows, byte for byte, and rows that no model could read. */
class RowWriterTests {

  @TempDir Path folder;

  private RowWriter.Written write(Row... rows) throws IOException {
    return RowWriter.writeTo(folder.resolve("file"), "train-00000.rows", List.of(rows).iterator());
  }

  private static Row row(Object some, Object one, Object label) {
    return RowFactory.create(some, one, label);
  }

  private static Object array(Object... values) {
    return CollectionConverters.asScala(List.of(values)).toSeq();
  }

  @Test
  void aRowIsItsNumbersAndThenItsClass() throws Exception {
    var written = write(row(array(0.5f, 2L), 3, 1L), row(array(-1.0, 0), 4, 7));
    var bytes = Files.readAllBytes(folder.resolve("file"));
    var found = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    assertThat(List.of(found.getFloat(), found.getFloat(), found.getFloat()))
        .containsExactly(0.5f, 2f, 3f);
    assertThat(found.getInt()).isEqualTo(1);
    assertThat(List.of(found.getFloat(), found.getFloat(), found.getFloat()))
        .containsExactly(-1f, 0f, 4f);
    assertThat(found.getInt()).isEqualTo(7);
    assertThat(found.hasRemaining()).isFalse();
    var digest = HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
    assertThat(written).isEqualTo(new RowWriter.Written("train-00000.rows", 2, 3, 7, digest));
  }

  @Test
  void aPartitionWithoutRowsIsAnEmptyFile() throws IOException {
    var written = write();
    assertThat(written.rows()).isZero();
    assertThat(written.largest()).isEqualTo(-1);
    assertThat(Files.size(folder.resolve("file"))).isZero();
  }

  @Test
  void rowsThatCannotBeWrittenAreNamed() {
    var good = row(array(1f), 2f, 0);
    assertThatThrownBy(() -> write(good, row(array(1f), 2f, -5)))
        .hasMessageContaining("row 1 of train-00000.rows: its class must be a whole number from 0")
        .hasMessageContaining("but was -5.0");
    assertThatThrownBy(() -> write(good, row(array(1f, 2f), 2f, 0)))
        .hasMessageContaining("it has 3 numbers, but the first one 2");
    assertThatThrownBy(() -> write(row(array(Float.NaN), 2f, 0)))
        .hasMessageContaining("must hold finite numbers, but there is NaN");
    assertThatThrownBy(() -> write(row("text", 2f, 0)))
        .hasMessageContaining("must hold finite numbers, but there is text");
  }
}
