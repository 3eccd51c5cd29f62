package dev.flotilla.control;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PrivateFilesTests {

  @TempDir Path path;

  @Test
  void makesFoldersForTheirOwnerAndTakesThoseOfItsOwn() throws IOException {
    Path folder = path.resolve("a").resolve("b");
    PrivateFiles.createFolders(folder);
    PrivateFiles.createFolders(folder);

    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(folder)))
        .isEqualTo("rwx------");
  }

  @Test
  void refusesAFolderOfSomebodyElseAlsoBehindALink() throws IOException {
    assumeTrue(ProcessHandle.current().info().user().equals(Optional.of("root")));
    Path foreign = Files.createDirectory(path.resolve("foreign"));
    var users = path.getFileSystem().getUserPrincipalLookupService();
    Files.setOwner(foreign, users.lookupPrincipalByName("12345"));
    Path link = Files.createSymbolicLink(path.resolve("link"), foreign);

    assertThatThrownBy(() -> PrivateFiles.createFolders(foreign))
        .hasMessage(foreign + " belongs to 12345; name a folder of your own");
    assertThatThrownBy(() -> PrivateFiles.requireOwn(link)).isInstanceOf(IOException.class);
  }
}
