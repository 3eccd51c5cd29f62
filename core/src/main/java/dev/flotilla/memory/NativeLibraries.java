package dev.flotilla.memory;

import dev.flotilla.settings.ConfigException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import java.util.TreeMap;
import org.bytedeco.javacpp.Loader;

/**
 * Unpacks libtorch once per machine and loads it.
 *
 * <p>Several JVMs that unpack at the same time can spoil the cache, so the first one does it under
 * a lock and leaves a mark. The cache is code, so it must belong to the user and to nobody else.
 */
public final class NativeLibraries {

  private static final String CACHE_PROPERTY = "org.bytedeco.javacpp.cachedir";
  private static final String EXTENSION = "org.bytedeco.javacpp.platform.extension";
  private static final String CUDA_EXTENSION = "-gpu";
  private static final String LIBTORCH = "org.bytedeco.pytorch.global.torch";

  private NativeLibraries() {}

  /** Unpacks the libraries and ends; run in a process of its own before several ranks start. */
  public static void main(String[] args) {
    load();
  }

  /** Loads libtorch into this process, unpacking it first where nobody has. */
  public static void load() {
    var cache = secureCache();
    properties(cache).forEach(System.getProperties()::putIfAbsent);
    if (Files.exists(mark(cache))) {
      loadLibtorch();
      return;
    }
    try (var channel =
            FileChannel.open(
                cache.resolve("lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        var _ = channel.lock()) {
      loadLibtorch();
      Files.writeString(mark(cache), "");
    } catch (IOException failure) {
      throw new UncheckedIOException("cannot unpack libtorch into " + cache, failure);
    }
  }

  /** Tells whether libtorch is unpacked; loads nothing native. */
  public static boolean areUnpacked() {
    return Files.exists(mark(secureCache()));
  }

  /**
   * Returns the system properties for JVMs that may touch libtorch before {@link #load} is called,
   * so that they share the unpacked libraries; loads nothing native.
   */
  public static Map<String, String> properties() {
    return properties(secureCache());
  }

  /** JavaCPP would end a run whose native memory is four times its heap, as in training it is. */
  private static Map<String, String> properties(Path cache) {
    Map<String, String> properties = new TreeMap<>();
    // What this process was told about its libraries holds for its ranks as well.
    System.getProperties().stringPropertyNames().stream()
        .filter(name -> name.startsWith("org.bytedeco.javacpp."))
        .forEach(name -> properties.put(name, System.getProperty(name, "")));
    properties.put(CACHE_PROPERTY, cache.toString());
    properties.put("org.bytedeco.javacpp.maxPhysicalBytes", "0");
    properties.put("org.bytedeco.javacpp.maxBytes", "0");
    if (isCudaBuild()) {
      properties.put(EXTENSION, CUDA_EXTENSION);
    }
    return properties;
  }

  /** Tells whether the libraries on the class path, or those that were asked for, are CUDA's. */
  static boolean isCudaBuild() {
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

  /** Another build of the binding unpacks anew: the mark carries its size and time. */
  private static Path mark(Path cache) {
    try {
      var jar = Path.of(libtorch().getProtectionDomain().getCodeSource().getLocation().toURI());
      long time = Files.getLastModifiedTime(jar).toMillis();
      return cache.resolve("unpacked-" + Files.size(jar) + "-" + time);
    } catch (IOException | java.net.URISyntaxException failure) {
      throw new IllegalStateException("cannot find the jar of the libtorch binding", failure);
    }
  }

  /**
   * Returns the folder for native libraries, made private.
   *
   * @throws ConfigException if others own it or may write to it
   */
  private static Path secureCache() {
    var cache = cache();
    try {
      Files.createDirectories(
          cache,
          PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
      var permissions = Files.getPosixFilePermissions(cache, LinkOption.NOFOLLOW_LINKS);
      boolean othersWrite =
          permissions.contains(PosixFilePermission.GROUP_WRITE)
              || permissions.contains(PosixFilePermission.OTHERS_WRITE);
      boolean isOurs = Files.getOwner(cache).equals(Files.getOwner(Path.of("/proc/self")));
      if (othersWrite || !isOurs) {
        throw new ConfigException(
            "native libraries",
            cache
                + " must belong to you and be writable by nobody else: chmod 700 it, or set "
                + "XDG_CACHE_HOME to another folder");
      }
      return cache;
    } catch (IOException failure) {
      throw new ConfigException(
          "native libraries", "cannot use " + cache + ": " + failure + "; set XDG_CACHE_HOME");
    }
  }

  private static Path cache() {
    var chosen = System.getProperty(CACHE_PROPERTY);
    if (chosen != null) {
      return Path.of(chosen);
    }
    var xdg = System.getenv("XDG_CACHE_HOME");
    var base =
        xdg == null || xdg.isBlank()
            ? Path.of(System.getProperty("user.home"), ".cache")
            : Path.of(xdg);
    return base.resolve("flotilla").resolve("native");
  }
}
