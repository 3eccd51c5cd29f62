package dev.flotilla.natives;

import dev.flotilla.settings.ConfigException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * Finds libtorch on arm64, for which Maven has none: the user's own folder, the cache, a Python's
 * PyTorch of the same version, or the wheel that pip gets; the last two are copied into the cache.
 */
public final class Arm64Libtorch {

  /** The variable with a folder of libtorch's libraries. */
  public static final String VARIABLE = "FLOTILLA_LIBTORCH";

  private static final List<String> PLACES_IN_GIVEN = List.of("", "lib", "torch/lib");

  private final LibtorchBuild build;
  private final NativeCache cache;
  private final Map<String, String> environment;
  private final PythonTorch python;
  private final Consumer<String> notices;

  Arm64Libtorch(
      LibtorchBuild build,
      NativeCache cache,
      Map<String, String> environment,
      Commands commands,
      Consumer<String> notices) {
    this.build = build;
    this.cache = cache;
    this.environment = environment;
    this.python = new PythonTorch(commands);
    this.notices = notices;
  }

  /** Looks on this host. */
  public static Arm64Libtorch ofThisHost(NativeCache cache) {
    try (var text = Arm64Libtorch.class.getResourceAsStream(LibtorchBuild.RESOURCE)) {
      Glue.name(); // says so if the jar is missing
      return new Arm64Libtorch(
          LibtorchBuild.read(Objects.requireNonNull(text)),
          cache,
          System.getenv(),
          Commands.ofTheHost(),
          notice -> System.err.println("flotilla: " + notice));
    } catch (IOException damaged) {
      throw new UncheckedIOException("cannot read the jar of flotilla-arm64", damaged);
    }
  }

  /** Tells whether nothing is left to do. */
  public boolean isThere() {
    return folders().stream().allMatch(Files::isDirectory)
        && given().map(folder -> Files.exists(mark(folder))).orElse(true);
  }

  /** Returns where the libraries are once {@link #ensure} was called, the glue first. */
  public List<Path> folders() {
    try {
      return List.of(
          cache.resolve(Glue.name()), given().orElseGet(() -> cache.resolve(cachedName())));
    } catch (IOException damaged) {
      throw new UncheckedIOException("cannot read the jar of flotilla-arm64", damaged);
    }
  }

  /**
   * Gets the libraries and checks them, unless that was done.
   *
   * @return their folders, the glue first
   * @throws ConfigException if they cannot be had, with the commands that get them
   */
  public List<Path> ensure() {
    var folders = folders();
    ensureLibtorch();
    cache.ensure(folders.getFirst().getFileName().toString(), Glue::unpackInto);
    return folders;
  }

  void ensureLibtorch() {
    given().ifPresentOrElse(this::checkGiven, () -> cache.ensure(cachedName(), this::fill));
  }

  private String cachedName() {
    return "libtorch-" + build.version();
  }

  private Optional<Path> given() {
    var text = environment.getOrDefault(VARIABLE, "");
    if (text.isBlank()) {
      return Optional.empty();
    }
    return PLACES_IN_GIVEN.stream()
        .map(place -> Path.of(text).resolve(place).normalize().toAbsolutePath())
        .filter(folder -> Files.isRegularFile(folder.resolve(LibtorchBuild.MAIN_LIBRARY)))
        .findFirst()
        .or(
            () -> {
              throw new ConfigException(
                  VARIABLE,
                  "%s holds no %s: name the folder torch/lib of PyTorch %s, or unset it"
                      .formatted(text, LibtorchBuild.MAIN_LIBRARY, build.version()));
            });
  }

  /** A folder is read through once, and again when its main library changes. */
  private void checkGiven(Path folder) {
    if (Files.exists(mark(folder))) {
      return;
    }
    try {
      if (NativeCache.isWritableByOthers(folder)) {
        throw new ConfigException(
            VARIABLE, folder + " may be written by others, and it is code: chmod go-w it");
      }
      build.requireUsable(folder, VARIABLE + "=" + folder).ifPresent(notices);
      cache.underLock(_ -> Files.writeString(mark(folder), ""));
    } catch (IOException failure) {
      throw new ConfigException(VARIABLE, "cannot read " + folder + ": " + failure);
    }
  }

  private Path mark(Path folder) {
    try {
      var library = folder.resolve(LibtorchBuild.MAIN_LIBRARY);
      var facts =
          folder + ":" + Files.size(library) + ":" + Files.getLastModifiedTime(library).toMillis();
      return cache.resolve("checked-" + Integer.toHexString(facts.hashCode()));
    } catch (IOException failure) {
      throw new ConfigException(VARIABLE, "cannot read " + folder + ": " + failure);
    }
  }

  private void fill(Path folder) throws IOException {
    List<String> tried = new ArrayList<>();
    if (!copyInstalled(folder, tried)) {
      download(folder, tried);
    }
  }

  private boolean copyInstalled(Path folder, List<String> tried) throws IOException {
    var installed = python.installedLibraries();
    if (installed.isEmpty()) {
      tried.add("no Python here has PyTorch");
      return false;
    }
    var version = LibtorchBuild.versionOf(installed.get()).orElse("of an unknown version");
    if (!build.isThisVersion(version)) {
      tried.add("Python's PyTorch is " + version);
      return false;
    }
    try {
      build.requireIn(installed.get(), "Python's PyTorch in " + installed.get());
    } catch (ConfigException other) {
      tried.add(other.getMessage());
      return false;
    }
    notices.accept("copying libtorch from " + installed.get() + ", once");
    for (var name : build.hashes().keySet()) {
      Files.copy(installed.get().resolve(name), folder.resolve(name));
    }
    return true;
  }

  private void download(Path folder, List<String> tried) throws IOException {
    notices.accept(
        "libtorch %s for arm64 is not here yet: pip gets it, once (about 155 MB)"
            .formatted(build.version()));
    var downloads = Files.createTempDirectory(cache.folder(), "download-");
    try {
      python.download(build.version(), downloads).unpack(build.hashes().keySet(), folder);
    } catch (IOException failure) {
      tried.add(LibtorchBuild.words(failure));
      throw absent(tried);
    } finally {
      try (var files = Files.list(downloads)) {
        for (var file : files.toList()) {
          Files.delete(file);
        }
      }
      Files.delete(downloads);
    }
    build.requireIn(folder, "the wheel that pip gave");
  }

  private ConfigException absent(List<String> tried) {
    return LibtorchBuild.refused(
        "no libtorch %s for arm64 is to be had (%s); get it with '%s', then 'unzip torch-*.whl"
            + " \"torch/*\"' and 'export %s=$PWD/torch/lib'",
        build.version(), String.join("; ", tried), build.cpuCommand(), VARIABLE);
  }
}
