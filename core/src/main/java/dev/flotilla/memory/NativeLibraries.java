package dev.flotilla.memory;

import dev.flotilla.natives.Arm64Libtorch;
import dev.flotilla.natives.NativeCache;
import dev.flotilla.settings.ConfigException;
import dev.flotilla.world.Platform;
import java.io.File;
import java.io.IOException;
import java.net.JarURLConnection;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;
import org.bytedeco.javacpp.Loader;

/**
 * Gets libtorch ready once per machine and loads it.
 *
 * <p>On x86-64 it is unpacked from the jars, on arm64 found or downloaded ({@link Arm64Libtorch}).
 * Several JVMs that unpack at the same time can spoil the cache, so the first one does it under a
 * lock and leaves a mark. The cache is code, so it must belong to the user and to nobody else.
 */
public final class NativeLibraries {

  private static final String CACHE_PROPERTY = "org.bytedeco.javacpp.cachedir";
  private static final String FOLDERS_PROPERTY = "org.bytedeco.javacpp.platform.preloadpath";
  private static final String EXTENSION = "org.bytedeco.javacpp.platform.extension";
  private static final String CUDA_EXTENSION = "-gpu";
  private static final String LIBTORCH = "org.bytedeco.pytorch.global.torch";

  /** What a process has loaded stays loaded: the next trainer need not hash files again. */
  private static final AtomicBoolean IS_LOADED = new AtomicBoolean();

  private NativeLibraries() {}

  /**
   * Gets libtorch ready and ends; run in a process of its own before several ranks start.
   *
   * @param args on arm64, links to be made to the libraries' folders, first the glue's; for tests
   */
  public static void main(String[] args) throws IOException {
    load();
    if (Platform.here() == Platform.LINUX_ARM64) {
      var folders = Arm64Libtorch.ofThisHost(cache()).folders();
      for (int i = 0; i < args.length; i++) {
        Files.deleteIfExists(Path.of(args[i]));
        Files.createSymbolicLink(Path.of(args[i]), folders.get(i));
      }
    }
  }

  /** Loads libtorch into this process, getting it ready first where nobody has. */
  public static void load() {
    if (!IS_LOADED.get()) {
      loadOnce();
    }
  }

  /** The lock of the cache keeps other processes out; other threads of this one wait here. */
  private static synchronized void loadOnce() {
    if (!IS_LOADED.get()) {
      getReadyAndLoad();
      IS_LOADED.set(true);
    }
  }

  private static void getReadyAndLoad() {
    var platform = Platform.here();
    var cache = cache();
    if (platform == Platform.LINUX_ARM64) {
      Arm64Libtorch.ofThisHost(cache).ensure();
    }
    properties(platform, cache).forEach(System.getProperties()::putIfAbsent);
    Blas.chosen(System.getenv()).prepare(cache);
    FreedPages.keep(System.getenv());
    var mark = cache.resolve(mark());
    if (Files.exists(mark)) {
      loadLibtorch();
      return;
    }
    cache.underLock(
        _ -> {
          loadLibtorch();
          Files.writeString(mark, "");
        });
  }

  /** Tells whether libtorch is ready; loads nothing native. */
  public static boolean areUnpacked() {
    var cache = cache();
    return Files.exists(cache.resolve(mark()))
        && (Platform.here() != Platform.LINUX_ARM64 || Arm64Libtorch.ofThisHost(cache).isThere());
  }

  /**
   * Returns the system properties for JVMs that may touch libtorch before {@link #load} is called,
   * so that they share the unpacked libraries; loads nothing native.
   */
  public static Map<String, String> properties() {
    return properties(Platform.here(), cache());
  }

  /** JavaCPP would end a run whose native memory is four times its heap, as in training it is. */
  private static Map<String, String> properties(Platform platform, NativeCache cache) {
    Map<String, String> properties = new TreeMap<>();
    if (platform == Platform.LINUX_ARM64) {
      properties.put(FOLDERS_PROPERTY, joined(Arm64Libtorch.ofThisHost(cache).folders()));
    }
    // What this process was told about its libraries holds for its ranks as well.
    System.getProperties().stringPropertyNames().stream()
        .filter(name -> name.startsWith("org.bytedeco.javacpp."))
        .forEach(name -> properties.put(name, System.getProperty(name, "")));
    properties.put(CACHE_PROPERTY, cache.folder().toString());
    properties.put("org.bytedeco.javacpp.maxPhysicalBytes", "0");
    properties.put("org.bytedeco.javacpp.maxBytes", "0");
    // Left open, JavaCPP looks for CUDA's libraries in every jar and folder: a quarter of a second.
    properties.putIfAbsent(EXTENSION, "");
    if (isCudaBuild()) {
      properties.put(EXTENSION, CUDA_EXTENSION);
    }
    return properties;
  }

  /** Returns the folders that libraries are loaded from, if they do not come from jars. */
  static Optional<String> folders() {
    return Optional.ofNullable(System.getProperty(FOLDERS_PROPERTY));
  }

  private static String joined(List<Path> folders) {
    return folders.stream().map(Path::toString).collect(Collectors.joining(File.pathSeparator));
  }

  /** Tells whether the libraries on the class path, or those that were asked for, are CUDA's. */
  public static boolean isCudaBuild() {
    var loader = NativeLibraries.class.getClassLoader();
    return CUDA_EXTENSION.equals(System.getProperty(EXTENSION))
        || loader.getResource("org/bytedeco/pytorch/linux-x86_64-gpu/libjnitorch.so") != null;
  }

  private static void loadLibtorch() {
    if (isCudaBuild()) {
      // Blocks that can grow leave fewer gaps, and so larger batches fit.
      Environment.setIfAbsent("PYTORCH_ALLOC_CONF", "expandable_segments:True");
    }
    Loader.load(libtorch());
  }

  private static Class<?> libtorch() {
    try {
      return Class.forName(LIBTORCH, false, NativeLibraries.class.getClassLoader());
    } catch (ClassNotFoundException missing) {
      throw new IllegalStateException("the binding of libtorch is not on the class path", missing);
    }
  }

  /** A class from a start-up cache does not know its jar where both have been moved. */
  private static URL binding() {
    var name = LIBTORCH.replace('.', '/') + ".class";
    return Objects.requireNonNull(NativeLibraries.class.getClassLoader().getResource(name), name);
  }

  /** Another build of the binding unpacks anew: the mark carries its size and time. */
  private static String mark() {
    try {
      var jar = Path.of(((JarURLConnection) binding().openConnection()).getJarFileURL().toURI());
      long time = Files.getLastModifiedTime(jar).toMillis();
      return "unpacked-" + Files.size(jar) + "-" + time;
    } catch (IOException | java.net.URISyntaxException failure) {
      throw new IllegalStateException("cannot find the jar of the libtorch binding", failure);
    }
  }

  /** Returns the file of a library of our own for this platform. */
  static Path shipped(String name) {
    return ShippedLibrary.unpack(name, Platform.ofProcessor(), cache());
  }

  /**
   * Opens the cache of native libraries.
   *
   * @throws ConfigException if others own it or may write to it
   */
  private static NativeCache cache() {
    return NativeCache.open(System.getProperty(CACHE_PROPERTY), System.getenv());
  }
}
