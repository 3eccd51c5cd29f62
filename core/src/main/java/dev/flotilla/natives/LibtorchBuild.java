package dev.flotilla.natives;

import dev.flotilla.settings.ConfigException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Properties;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Pattern;

/**
 * The build of libtorch that Flotilla takes on arm64, and how a folder is checked to hold it.
 *
 * @param version its version, such as 2.13.0
 * @param hashes SHA-256 of each library that is needed, by file name
 */
record LibtorchBuild(String version, SortedMap<String, String> hashes) {

  static final String RESOURCE = "/dev/flotilla/arm64/libtorch.properties";
  static final String MAIN_LIBRARY = "libtorch_cpu.so";
  private static final Pattern VERSION = Pattern.compile("__version__ = '([^']+)'");
  private static final int BLOCK = 1 << 20;

  static LibtorchBuild read(InputStream text) throws IOException {
    var properties = new Properties();
    properties.load(text);
    var hashes = new TreeMap<String, String>();
    properties.stringPropertyNames().stream()
        .filter(name -> name.startsWith("lib"))
        .forEach(name -> hashes.put(name, properties.getProperty(name)));
    return new LibtorchBuild(properties.getProperty("version"), hashes);
  }

  /** Returns the version of PyTorch that a folder of its libraries belongs to, if it says so. */
  static Optional<String> versionOf(Path libraries) {
    try {
      var found = VERSION.matcher(Files.readString(libraries.resolve("../version.py")));
      return found.find() ? Optional.of(found.group(1)) : Optional.empty();
    } catch (IOException notThere) {
      return Optional.empty();
    }
  }

  boolean isThisVersion(String stated) {
    return stated.equals(version) || stated.startsWith(version + "+");
  }

  /**
   * Checks that a folder holds this very build, to the last byte.
   *
   * @throws ConfigException naming the library that is missing, other or for CUDA
   */
  void requireIn(Path folder, String origin) {
    requireLibraries(folder, origin);
    var other = firstOther(folder);
    if (other.isPresent()) {
      throw refused(
          "%s of %s is not the one that PyTorch %s was published with for arm64 (CPU, CPython"
              + " 3.11); if you trust it, set FLOTILLA_LIBTORCH to its folder",
          other.get(), origin, version);
    }
  }

  /**
   * Checks a folder that the user has named: he may bring a build of his own.
   *
   * @return what the user should know of it
   */
  Optional<String> requireUsable(Path folder, String origin) {
    requireLibraries(folder, origin);
    var other = firstOther(folder);
    if (other.isEmpty()) {
      return Optional.empty();
    }
    var stated =
        versionOf(folder)
            .orElseThrow(
                () ->
                    refused(
                        "%s does not tell its version: name the folder torch/lib of PyTorch %s",
                        origin, version));
    if (!isThisVersion(stated)) {
      throw refused("%s is of PyTorch %s, but %s is needed", origin, stated, version);
    }
    return Optional.of(
        "%s in %s is not PyTorch's published one; it is taken because FLOTILLA_LIBTORCH names it"
            .formatted(other.get(), folder));
  }

  private void requireLibraries(Path folder, String origin) {
    for (var name : hashes.keySet()) {
      if (!Files.isRegularFile(folder.resolve(name))) {
        throw refused("%s has no %s", origin, name);
      }
    }
    var main = folder.resolve(MAIN_LIBRARY);
    try {
      var cuda =
          ElfFile.read(main).needed().stream().filter(name -> name.startsWith("libcu")).findFirst();
      if (cuda.isPresent()) {
        throw refused(
            "%s is a build for CUDA (it needs %s), which Flotilla does not take on arm64: get the"
                + " one for CPUs with %s",
            origin, cuda.get(), cpuCommand());
      }
    } catch (IOException unreadable) {
      throw refused("%s: %s", origin, words(unreadable));
    }
  }

  /** The command that gets the right build whatever index the machine is set up with. */
  String cpuCommand() {
    return pipCommand("--index-url https://download.pytorch.org/whl/cpu ");
  }

  private String pipCommand(String index) {
    return "python3 -m pip download --no-deps --only-binary=:all: --platform manylinux_2_28_aarch64"
        + " --implementation cp --python-version 3.11 --abi cp311 "
        + index
        + "torch=="
        + version;
  }

  private Optional<String> firstOther(Path folder) {
    return hashes.entrySet().stream()
        .filter(entry -> !entry.getValue().equals(hash(folder.resolve(entry.getKey()))))
        .map(Map.Entry::getKey)
        .findFirst();
  }

  private static String hash(Path file) {
    try (var content = Files.newInputStream(file)) {
      return hash(content);
    } catch (IOException failure) {
      throw refused("cannot read %s: %s", file, words(failure));
    }
  }

  static String hash(InputStream content) throws IOException {
    var digest = sha256();
    var block = new byte[BLOCK];
    for (int length = content.read(block); length >= 0; length = content.read(block)) {
      digest.update(block, 0, length);
    }
    return HexFormat.of().formatHex(digest.digest());
  }

  private static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException impossible) {
      throw new IllegalStateException(impossible);
    }
  }

  static String words(IOException failure) {
    return Objects.requireNonNullElse(failure.getMessage(), failure.toString());
  }

  static ConfigException refused(String text, Object... values) {
    return new ConfigException("libtorch", text.formatted(values));
  }
}
