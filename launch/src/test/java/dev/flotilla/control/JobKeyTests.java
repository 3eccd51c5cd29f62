package dev.flotilla.control;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class JobKeyTests {

  @TempDir Path folder;

  private Path file(String text, String mode) throws IOException {
    Path file = Files.writeString(folder.resolve("key"), text);
    return Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(mode));
  }

  @Test
  void isTheSameForTheSameTextAlone() throws IOException {
    String text = JobKey.newText();

    assertThat(JobKey.read(file(text + "\n", "rw-------")).prove("x"))
        .isEqualTo(JobKey.of(text).prove("x"))
        .isNotEqualTo(JobKey.of(text).prove("y"))
        .isNotEqualTo(JobKey.of(JobKey.newText()).prove("x"));
    assertThat(text).hasSize(64);
    assertThat(JobKey.of(text).toString()).isEqualTo("job key");
  }

  @Test
  void refusesAFileThatOthersCanRead() throws IOException {
    Path file = file(JobKey.newText(), "rw-r-----");

    assertThatThrownBy(() -> JobKey.read(file)).hasMessageContaining("chmod 600 " + file);
  }

  @Test
  void refusesAShortKey() throws IOException {
    Path file = file("secret", "rw-------");

    assertThatThrownBy(() -> JobKey.read(file))
        .hasMessageContaining("holds 6 characters, but a key must have 32 or more");
  }

  @Test
  void comparesWholeNumbers() {
    Bits256 bits = Bits256.random();

    assertThat(bits.matches(Bits256.of(bits.bytes()))).isTrue();
    assertThat(bits.matches(new Bits256(bits.a(), bits.b(), bits.c(), bits.d() ^ 1))).isFalse();
    assertThat(bits.matches(new Bits256(~bits.a(), bits.b(), bits.c(), bits.d()))).isFalse();
  }
}
