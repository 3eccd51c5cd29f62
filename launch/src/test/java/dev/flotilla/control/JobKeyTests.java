package dev.flotilla.control;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
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
  void refusesWhatIsNoFileAndWhatBelongsToSomebodyElse() throws IOException {
    assertThatThrownBy(() -> JobKey.read(folder)).hasMessageContaining("is no regular file");

    Path file = file(JobKey.newText(), "rw-------");
    var others = file.getFileSystem().getUserPrincipalLookupService();
    assumeTrue(ProcessHandle.current().info().user().equals(Optional.of("root")));
    Files.setOwner(file, others.lookupPrincipalByName("12345"));
    assertThatThrownBy(() -> JobKey.read(file)).hasMessageContaining("belongs to 12345");
  }

  /** A shell hands the key over in a pipe that this process inherits as its input. */
  @Test
  void readsAnInheritedDescriptor() throws Exception {
    String text = JobKey.newText();
    Process reader =
        new ProcessBuilder(
                ProcessHandle.current().info().command().orElseThrow(),
                "-cp",
                System.getProperty("java.class.path"),
                Reader.class.getName())
            .redirectErrorStream(true)
            .start();
    try (var in = reader.outputWriter()) {
      in.write(text);
    }
    assertThat(reader.waitFor(20, TimeUnit.SECONDS)).isTrue();
    assertThat(new String(reader.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip())
        .isEqualTo(JobKey.of(text).prove("x").toString());
  }

  /** Prints a proof with the key that is its input. */
  static final class Reader {
    public static void main(String[] args) throws IOException {
      System.out.println(JobKey.read(Path.of("/dev/fd/0")).prove("x"));
    }
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
