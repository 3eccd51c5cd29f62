import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * Makes the distribution for this machine's platform: jars, a runtime image, a start script,
 * licences and a start-up cache in one folder, and a tar.gz of it.
 *
 * <p>Run by the profile dist through the toolchain's java, in the folder of all modules. Two runs
 * on one commit give the same bytes, the runtime image and the start-up cache apart.
 */
final class Dist {

  /** What ./flotilla's first run may take on a slow machine, download of libtorch included. */
  private static final long MOST_MINUTES = 30;

  private static final String DIST = "app/src/dist";

  private final String version;
  private final String platform;
  private final Path work;
  private final Path root;
  private final FileTime time;

  private Dist(String version, String platform, Instant time, Path target) {
    this.version = version;
    this.platform = platform;
    this.time = FileTime.from(time);
    this.work = target.resolve("dist");
    this.root = work.resolve("flotilla-" + version + "-" + platform);
  }

  /**
   * Makes it.
   *
   * @param arguments version, platform, time of all files, target folder, jar of the command line,
   *     class path
   */
  public static void main(String[] arguments) throws IOException, InterruptedException {
    var target = Path.of(arguments[3]);
    new Dist(arguments[0], arguments[1], Instant.parse(arguments[2]), target)
        .make(Path.of(arguments[4]), arguments[5]);
  }

  private void make(Path command, String classPath) throws IOException, InterruptedException {
    delete(work);
    Files.createDirectories(root.resolve("lib"));
    var jars = copyJars(command, classPath);
    Files.copy(Path.of("LICENSE"), root.resolve("LICENSE"));
    Files.copy(Path.of("NOTICE"), root.resolve("NOTICE"));
    writeScript("flotilla");
    writeScript("install.sh");
    new RuntimeImage(jars).link(root.resolve("runtime"));
    if (platform.equals("linux-arm64")) {
      copyLibtorch();
    }
    new Licences(Path.of(DIST, "licences"), root).write();
    setTimes();
    makeStartUpCache();
    setTimes();
    var archive = work.resolveSibling(root.getFileName() + ".tar.gz");
    TarGz.write(root, archive);
    System.out.printf("%s: %d MB%n", archive, Files.size(archive) / 1_000_000);
  }

  /** Copies what is on the class path; of this module, which is there as a folder, the jar. */
  private List<Path> copyJars(Path command, String classPath) throws IOException {
    Map<String, Path> jars = new TreeMap<>();
    Stream.concat(Stream.of(command), Stream.of(classPath.split(":")).map(Path::of))
        .filter(Files::isRegularFile)
        .forEach(jar -> jars.put(jar.getFileName().toString(), jar));
    List<Path> copies = new ArrayList<>();
    for (var jar : jars.entrySet()) {
      var copy = root.resolve("lib").resolve(jar.getKey());
      Files.copy(jar.getValue(), copy);
      copies.add(copy);
    }
    ClassFiles.renewIn(root.resolve("lib"));
    return copies;
  }

  private void writeScript(String name) throws IOException {
    var text = Files.readString(Path.of(DIST, name));
    var script = root.resolve(name);
    Files.writeString(script, text.replace("@version@", version).replace("@platform@", platform));
    Files.setPosixFilePermissions(script, PosixFilePermissions.fromString("rwxr-xr-x"));
  }

  /** Maven has no libtorch for arm64: what Flotilla has found or downloaded is taken. */
  private void copyLibtorch() throws IOException, InterruptedException {
    var link = work.resolve("libtorch");
    run(
        Map.of(),
        root.resolve("runtime/bin/java").toString(),
        "--enable-native-access=ALL-UNNAMED",
        "-cp",
        root.resolve("lib") + "/*",
        "dev.flotilla.launch.RankMain",
        "dev.flotilla.memory.NativeLibraries",
        work.resolve("glue").toString(),
        link.toString());
    var libraries = Files.createDirectory(root.resolve("libtorch"));
    try (var files = Files.list(link)) {
      for (var file : files.filter(Files::isRegularFile).toList()) {
        Files.copy(file, libraries.resolve(file.getFileName()));
      }
    }
  }

  /** The script makes a cache for itself where there is none: the first of this folder is kept. */
  private void makeStartUpCache() throws IOException, InterruptedException {
    var cache = work.resolve("cache");
    run(
        Map.of("XDG_CACHE_HOME", cache.toString()),
        root.resolve("flotilla").toString(),
        "--version");
    var made = cache.resolve("flotilla/start-%s-%s.aot".formatted(version, platform));
    Files.move(made, root.resolve("lib/start.aot"));
    delete(cache);
  }

  private static void run(Map<String, String> environment, String... command)
      throws IOException, InterruptedException {
    var builder = new ProcessBuilder(command).inheritIO();
    builder.environment().putAll(environment);
    var process = builder.start();
    try {
      if (!process.waitFor(MOST_MINUTES, TimeUnit.MINUTES) || process.exitValue() != 0) {
        throw new IOException("failed: " + String.join(" ", command));
      }
    } finally {
      process.descendants().forEach(ProcessHandle::destroyForcibly);
      process.destroyForcibly();
    }
  }

  /** A start-up cache holds its jars' times, so they are those that the archive gives them. */
  private void setTimes() throws IOException {
    try (var files = Files.walk(root)) {
      for (var file : files.filter(file -> !Files.isSymbolicLink(file)).toList()) {
        Files.setLastModifiedTime(file, time);
      }
    }
  }

  private static void delete(Path folder) throws IOException {
    if (!Files.exists(folder)) {
      return;
    }
    try (var files = Files.walk(folder)) {
      for (var file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    }
  }
}
