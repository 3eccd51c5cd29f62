package dev.flotilla.app;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What the build does about what it takes in, M1 and M2, in a folder of its own. */
@Timeout(120)
class SupplyChainTests {

  private static final Path PROGRAMS = Path.of("..", "build").toAbsolutePath().normalize();

  @TempDir Path folder;

  /** Runs a program of the build; returns its exit code and what it said. */
  private String run(String program, String... arguments) throws Exception {
    var command = new ArrayList<String>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-XX:TieredStopAtLevel=1", PROGRAMS.resolve(program).toString()));
    command.addAll(List.of(arguments));
    var process =
        new ProcessBuilder(command).directory(folder.toFile()).redirectErrorStream(true).start();
    var said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
    return process.exitValue() + " " + said.strip();
  }

  /** Size and time of change stay as they were. */
  @Test
  void oneChangedByteInAJarFailsTheBuild() throws Exception {
    Path jar = jar("repository/org/example/it/1/it-1.jar", "It.class");
    Files.createDirectories(folder.resolve("build"));
    assertThat(run("Checksums.java", "write", "repository")).isEqualTo("0 ");
    assertThat(run("Checksums.java", "check", "repository")).isEqualTo("0 ");

    FileTime before = Files.getLastModifiedTime(jar);
    byte[] bytes = Files.readAllBytes(jar);
    bytes[bytes.length / 2] ^= 1;
    Files.write(jar, bytes);
    Files.setLastModifiedTime(jar, before);

    assertThat(run("Checksums.java", "check", "repository"))
        .startsWith("1 repository/org/example/it/1/it-1.jar is not the file whose SHA-256 is in");
  }

  @Test
  void theBillOfMaterialsListsLibrariesInsideJars() throws Exception {
    jar("lib/native-1.jar", "org/example/linux-x86_64/libit.so.2");
    jar("lib/plain-1.jar", "It.class");

    assertThat(run("Natives.java", "lib", "natives.json")).isEqualTo("0 ");

    assertThat(Json.read(folder.resolve("natives.json")).toString())
        .containsOnlyOnce("name=")
        .contains("native-1.jar/org/example/linux-x86_64/libit.so.2")
        .containsPattern("alg=SHA-256, content=[0-9a-f]{64}");
  }

  private Path jar(String name, String entry) throws IOException {
    Path jar = folder.resolve(name);
    Files.createDirectories(jar.getParent());
    try (var out = new ZipOutputStream(Files.newOutputStream(jar))) {
      out.putNextEntry(new ZipEntry(entry));
      out.write(entry.repeat(20).getBytes(StandardCharsets.UTF_8));
      out.closeEntry();
    }
    return jar;
  }
}
