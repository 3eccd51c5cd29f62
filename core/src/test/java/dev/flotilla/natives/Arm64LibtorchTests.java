package dev.flotilla.natives;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.flotilla.settings.ConfigException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Libraries of a few bytes stand for libtorch; Python and pip are played. */
class Arm64LibtorchTests {

  private static final String MAIN = LibtorchBuild.MAIN_LIBRARY;

  @TempDir Path folder;
  private Path cacheFolder;
  private NativeCache cache;
  private LibtorchBuild build;
  private final Map<String, String> environment = new HashMap<>();
  private final List<String> notices = new ArrayList<>();
  private Commands host = (_, command) -> absent(command);

  @BeforeEach
  void makeLibraries() throws IOException {
    cacheFolder = folder.resolve("cache");
    cache = NativeCache.open(cacheFolder.toString(), Map.of());
    var libraries = writeLibraries(folder.resolve("original"), "2.13.0+cpu", List.of("libc10.so"));
    var hashes = new TreeMap<String, String>();
    for (var name : List.of(MAIN, "libc10.so")) {
      try (InputStream content = Files.newInputStream(libraries.resolve(name))) {
        hashes.put(name, LibtorchBuild.hash(content));
      }
    }
    build = new LibtorchBuild("2.13.0", hashes);
  }

  @Test
  void takesTheFolderThatIsGiven() {
    environment.put("FLOTILLA_LIBTORCH", folder.resolve("original/torch/lib").toString());
    libtorch().ensureLibtorch();
    assertThat(notices).isEmpty();
    assertThat(cachedLibtorch()).doesNotExist();
  }

  @Test
  void findsTheLibrariesInsideOfTheGivenFolder() {
    environment.put("FLOTILLA_LIBTORCH", folder.resolve("original").toString());
    libtorch().ensureLibtorch();
    assertThat(notices).isEmpty();
  }

  @Test
  void readsAGivenFolderOnceAndAgainWhenItChanges() throws IOException {
    var given = folder.resolve("original/torch/lib");
    environment.put("FLOTILLA_LIBTORCH", given.toString());
    libtorch().ensureLibtorch();
    Files.delete(given.resolve("libc10.so"));
    libtorch().ensureLibtorch();
    Files.write(given.resolve(MAIN), library(List.of("libc10.so", "libm.so.6")));
    refuses("has no libc10.so");
  }

  @Test
  void refusesAGivenFolderWithoutLibtorch() {
    environment.put("FLOTILLA_LIBTORCH", "/no/such/folder");
    refuses("FLOTILLA_LIBTORCH: /no/such/folder holds no libtorch_cpu.so: name the folder");
  }

  @Test
  void takesAnotherBuildOfTheSameVersionFromTheUserAndSaysSo() throws IOException {
    var other = writeLibraries(folder.resolve("other"), "2.13.0", List.of("libm.so.6"));
    environment.put("FLOTILLA_LIBTORCH", other.toString());
    libtorch().ensureLibtorch();
    assertThat(notices).singleElement().asString().contains("is not PyTorch's published one");
  }

  @Test
  void refusesAnotherVersionFromTheUser() throws IOException {
    var other = writeLibraries(folder.resolve("other"), "2.14.1", List.of("libm.so.6"));
    environment.put("FLOTILLA_LIBTORCH", other.toString());
    refuses("is of PyTorch 2.14.1, but 2.13.0 is needed");
  }

  @Test
  void refusesAFolderThatDoesNotTellItsVersion() throws IOException {
    var other = writeLibraries(folder.resolve("other"), "2.13.0", List.of("libm.so.6"));
    Files.delete(other.resolve("../version.py"));
    environment.put("FLOTILLA_LIBTORCH", other.toString());
    refuses("does not tell its version");
  }

  @Test
  void refusesABuildForCuda() throws IOException {
    var cuda = writeLibraries(folder.resolve("cuda"), "2.13.0", List.of("libcudart.so.13"));
    environment.put("FLOTILLA_LIBTORCH", cuda.toString());
    refuses("is a build for CUDA (it needs libcudart.so.13)", "whl/cpu torch==2.13.0");
  }

  @Test
  void refusesWhatOthersMayWriteTo() throws IOException {
    var given = folder.resolve("original/torch/lib");
    Files.setPosixFilePermissions(given, PosixFilePermissions.fromString("rwxrwxrwx"));
    environment.put("FLOTILLA_LIBTORCH", given.toString());
    refuses("may be written by others");
  }

  @Test
  void refusesALibraryThatIsCutOff() throws IOException {
    var given = folder.resolve("original/torch/lib");
    var whole = Files.readAllBytes(given.resolve(MAIN));
    Files.write(given.resolve(MAIN), java.util.Arrays.copyOf(whole, 100));
    environment.put("FLOTILLA_LIBTORCH", given.toString());
    refuses("libtorch_cpu.so is cut off");
  }

  @Test
  void copiesThePyTorchOfPython() {
    host = (_, command) -> command.contains("-c") ? said("noise\n" + original()) : absent(command);
    libtorch().ensureLibtorch();
    assertThat(cachedLibtorch().resolve(MAIN)).exists();
    assertThat(notices).singleElement().asString().startsWith("copying libtorch from");
  }

  @Test
  void takesTheCacheWithoutAskingAnybody() throws IOException {
    Files.createDirectories(cachedLibtorch());
    host =
        (_, _) -> {
          throw new AssertionError("nobody is to be asked");
        };
    libtorch().ensureLibtorch();
    assertThat(notices).isEmpty();
  }

  @Test
  void downloadsAWheelWherePythonHasAnotherVersion() throws IOException {
    writeLibraries(folder.resolve("old"), "2.9.0", List.of());
    host =
        (_, command) ->
            command.contains("-c")
                ? said(folder.resolve("old/torch").toString())
                : downloads(command, false);
    libtorch().ensureLibtorch();
    assertThat(cachedLibtorch()).isDirectoryContaining(file -> file.endsWith(MAIN));
    assertThat(notices).singleElement().asString().contains("pip gets it, once");
    assertThat(cacheFolder)
        .isDirectoryNotContaining(file -> file.toString().matches(".*(download|unfinished)-.*"));
  }

  @Test
  void asksForTheOnePublishedWheelWhateverPythonIsHere() {
    List<List<String>> asked = new ArrayList<>();
    host =
        (_, command) -> {
          asked.add(command);
          return command.contains("-c") ? said("") : downloads(command, false);
        };
    libtorch().ensureLibtorch();
    assertThat(asked.getLast())
        .startsWith("python3", "-m", "pip", "download")
        .contains("--platform=manylinux_2_28_aarch64", "--abi=cp311", "torch==2.13.0");
  }

  @Test
  void saysHowToGetItWhereThereIsNoPython() {
    refuses(
        "no libtorch 2.13.0 for arm64 is to be had",
        "python3 -m pip is not installed, pip3 is not installed, pip is not installed",
        "whl/cpu torch==2.13.0'",
        "export FLOTILLA_LIBTORCH=");
    assertNothingIsLeft();
  }

  @Test
  void saysWhatPipSays() {
    host =
        (_, command) ->
            command.contains("-c")
                ? said("")
                : new Commands.Result(1, "Looking\nERROR: No matching distribution found");
    refuses("pip says: ERROR: No matching distribution found");
    assertNothingIsLeft();
  }

  @Test
  void refusesAWheelThatIsCutOff() {
    host = (_, command) -> command.contains("-c") ? said("") : downloads(command, true);
    refuses("is to be had", "the wheel is damaged or cut off", "get it with");
    assertNothingIsLeft();
  }

  @Test
  void refusesAWheelOfAnotherBuild() throws IOException {
    host =
        (_, command) ->
            command.contains("-c")
                ? said("")
                : downloads(command, false, library(List.of("libm.so.6")));
    refuses("libtorch_cpu.so of the wheel that pip gave is not the one that PyTorch 2.13.0");
    assertNothingIsLeft();
  }

  private Arm64Libtorch libtorch() {
    return new Arm64Libtorch(build, cache, environment, (a, b) -> host.run(a, b), notices::add);
  }

  private void refuses(String... words) {
    assertThatExceptionOfType(ConfigException.class)
        .isThrownBy(() -> libtorch().ensureLibtorch())
        .satisfies(
            refused -> assertThat(refused.getMessage()).contains(words).doesNotContain("\n"));
  }

  private void assertNothingIsLeft() {
    assertThat(cacheFolder).isDirectoryNotContaining(file -> !file.endsWith("lock"));
  }

  private Path cachedLibtorch() {
    return cacheFolder.resolve("libtorch-2.13.0");
  }

  private String original() {
    return folder.resolve("original/torch").toString();
  }

  private static Commands.Result said(String text) {
    return new Commands.Result(0, text);
  }

  private static Commands.Result absent(List<String> command) {
    return new Commands.Result(Commands.Result.ABSENT, command.getFirst() + " is not installed");
  }

  private Commands.Result downloads(List<String> command, boolean isCutOff) {
    try {
      var whole = Files.readAllBytes(folder.resolve("original/torch/lib").resolve(MAIN));
      return downloads(command, isCutOff, whole);
    } catch (IOException failure) {
      throw new AssertionError(failure);
    }
  }

  private Commands.Result downloads(List<String> command, boolean isCutOff, byte[] library) {
    var wheel =
        command.stream()
            .filter(word -> word.startsWith("--dest="))
            .map(word -> Path.of(word.substring(7), "torch-2.13.0+cpu-cp311.whl"))
            .findFirst()
            .orElseThrow();
    try (OutputStream file = Files.newOutputStream(wheel);
        var zip = new ZipOutputStream(file)) {
      put(zip, MAIN, library);
      put(zip, "libc10.so", "c10".getBytes(java.nio.charset.StandardCharsets.UTF_8));
    } catch (IOException failure) {
      throw new AssertionError(failure);
    }
    if (isCutOff) {
      cutOff(wheel);
    }
    return said("Saved " + wheel);
  }

  private static void put(ZipOutputStream zip, String name, byte[] content) throws IOException {
    zip.putNextEntry(new ZipEntry("torch/lib/" + name));
    zip.write(content);
    zip.closeEntry();
  }

  private static void cutOff(Path file) {
    try {
      var whole = Files.readAllBytes(file);
      Files.write(file, java.util.Arrays.copyOf(whole, whole.length / 2));
    } catch (IOException failure) {
      throw new AssertionError(failure);
    }
  }

  private static Path writeLibraries(Path root, String version, List<String> needed)
      throws IOException {
    var libraries = Files.createDirectories(root.resolve("torch/lib"));
    Files.setPosixFilePermissions(libraries, PosixFilePermissions.fromString("rwxr-xr-x"));
    Files.writeString(root.resolve("torch/version.py"), "__version__ = '" + version + "'\n");
    Files.write(libraries.resolve(MAIN), library(needed));
    Files.writeString(libraries.resolve("libc10.so"), "c10");
    return libraries;
  }

  private static byte[] library(List<String> needed) {
    return new TinyElf().needs(needed).bytes();
  }
}
