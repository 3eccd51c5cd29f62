package dev.flotilla.natives;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.flotilla.settings.ConfigException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** L2: native code is loaded from no folder that somebody else could have written to. */
class NativeCacheTests {

  private static final Integer NOBODY = 65534;

  @TempDir Path folder;

  private void assertRefused(Path cache) {
    assertThatThrownBy(() -> NativeCache.open(cache.toString(), Map.of()))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining("must belong to you and be writable by nobody else");
  }

  private Path existing(String mode) throws IOException {
    Path cache = Files.createDirectory(folder.resolve("native"));
    Files.setPosixFilePermissions(cache, PosixFilePermissions.fromString(mode));
    return cache;
  }

  @ParameterizedTest
  @ValueSource(strings = {"rwxrwxr-x", "rwxr-xrwx", "rwx-w----", "rwx----w-"})
  void refusesAFolderThatOthersMayWriteTo(String mode) throws IOException {
    assertRefused(existing(mode));
  }

  @Test
  void refusesALink() throws IOException {
    Path own = existing("rwx------");
    assertRefused(Files.createSymbolicLink(folder.resolve("link"), own));
  }

  /** Only root can give a folder away. */
  @ParameterizedTest
  @ValueSource(strings = {"rwx------", "rwxr-xr-x"})
  void refusesAFolderOfSomebodyElse(String mode) throws IOException {
    assumeTrue(Integer.valueOf(0).equals(Files.getAttribute(Path.of("/proc/self"), "unix:uid")));
    Path cache = existing(mode);
    Files.setAttribute(cache, "unix:uid", NOBODY);

    assertRefused(cache);
  }

  /** Whoever owns the folder around it can put another one in its place. */
  @Test
  void refusesAFolderInsideOneOfSomebodyElse() throws IOException {
    assumeTrue(Integer.valueOf(0).equals(Files.getAttribute(Path.of("/proc/self"), "unix:uid")));
    Path around = Files.createDirectory(folder.resolve("around"));
    Path cache = Files.createDirectory(around.resolve("native"));
    Files.setAttribute(around, "unix:uid", NOBODY);

    assertRefused(cache);
  }

  @Test
  void makesAPrivateOne() throws IOException {
    Path cache = NativeCache.open(folder.resolve("a/b").toString(), Map.of()).folder();

    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(cache)))
        .isEqualTo("rwx------");
  }
}
