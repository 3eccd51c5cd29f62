package dev.flotilla.launch;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

class MeetingFolderTests {

  @TempDir Path temporary;

  @Test
  void isPrivateAndGoesAway() throws IOException {
    Path path;
    try (var folder = create()) {
      path = folder.path();
      Files.createFile(folder.rendezvousFile(0));
      assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(path)))
          .isEqualTo("rwx------");
    }
    assertThat(path).doesNotExist();
  }

  @Test
  void removesWhatDeadLaunchersLeft() throws IOException {
    Path dead = folderWithLock("flotilla-launch-dead", Duration.ofMinutes(2));
    Path starting = folderWithLock("flotilla-launch-starting", Duration.ZERO);
    Path unrelated = folderWithLock("other", Duration.ofMinutes(2));

    try (var living = create()) {
      age(living.path().resolve("lock"), Duration.ofMinutes(2));
      try (var next = create()) {
        assertThat(next.path()).isDirectory();
        assertThat(living.path()).isDirectory();
      }
    }

    assertThat(dead).doesNotExist();
    assertThat(starting).isDirectory();
    assertThat(unrelated).isDirectory();
  }

  @Timeout(20)
  @Test
  void neitherOpensNorRemovesWhatOthersMayHavePutThere() throws Exception {
    Path target = folderWithLock("elsewhere", Duration.ofMinutes(2));
    Files.createFile(target.resolve("precious"));
    Path link = Files.createSymbolicLink(temporary.resolve("flotilla-launch-link"), target);
    Path open = folderWithLock("flotilla-launch-open", Duration.ofMinutes(2));
    Files.setPosixFilePermissions(open, PosixFilePermissions.fromString("rwxrwxrwx"));
    Path pipe = privateFolder("flotilla-launch-pipe");
    var mkfifo = new ProcessBuilder("mkfifo", pipe.resolve("lock").toString()).start();
    assertThat(mkfifo.waitFor()).isZero();
    Path linkedLock = privateFolder("flotilla-launch-linked-lock");
    Files.createSymbolicLink(linkedLock.resolve("lock"), target.resolve("lock"));

    try (var folder = create()) {
      assertThat(folder.path()).isDirectory();
    }

    assertThat(link).isSymbolicLink();
    assertThat(target.resolve("precious")).exists();
    assertThat(open).isDirectory();
    assertThat(pipe).isDirectory();
    assertThat(linkedLock).isDirectory();
  }

  private MeetingFolder create() throws IOException {
    return MeetingFolder.create(
        temporary,
        warning -> {
          throw new AssertionError(warning);
        });
  }

  private Path folderWithLock(String name, Duration age) throws IOException {
    Path folder = privateFolder(name);
    age(Files.createFile(folder.resolve("lock")), age);
    return folder;
  }

  private Path privateFolder(String name) throws IOException {
    return Files.createDirectory(
        temporary.resolve(name),
        PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
  }

  private static void age(Path file, Duration age) throws IOException {
    Files.setLastModifiedTime(file, FileTime.from(Instant.now().minus(age)));
  }
}
