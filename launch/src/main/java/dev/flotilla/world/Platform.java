package dev.flotilla.world;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.ValueLayout;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * The kinds of machine that Flotilla runs on.
 *
 * <p>Uses nothing but the JDK and this package, so that the build can run it from its source before
 * anything is downloaded.
 */
public enum Platform {
  /** Linux on x86-64; libtorch is in Maven's artifacts. */
  LINUX_X86_64("linux-x86_64", 35),
  /** Linux on arm64; libtorch is PyTorch's own. */
  LINUX_ARM64("linux-arm64", 28);

  private static final String SUPPORTED =
      "Flotilla runs on Linux with glibc: on x86-64 from 2.35 (Debian 12, Ubuntu 22.04) and on"
          + " arm64 from 2.28 (Debian 10, Ubuntu 20.04, RHEL 8)";
  private static final Pattern GLIBC = Pattern.compile("2\\.(\\d{1,4})(\\..*)?");

  private final String id;
  private final int leastGlibc;

  Platform(String id, int leastGlibc) {
    this.id = id;
    this.leastGlibc = leastGlibc;
  }

  /**
   * Ends with a message where Flotilla cannot run; the build calls it first.
   *
   * @param args none
   */
  public static void main(String[] args) {
    try {
      here();
    } catch (WorldException unsupported) {
      System.err.println("flotilla: " + unsupported.getMessage());
      Runtime.getRuntime().halt(unsupported.exitCode());
    }
  }

  /**
   * Returns the platform of this process.
   *
   * @throws WorldException if Flotilla does not run here, with what it takes and what to do
   */
  public static Platform here() {
    return of(System.getProperty("os.name", ""), System.getProperty("os.arch", ""), glibcVersion());
  }

  /**
   * Returns the platform of this process without a look at its C library, which takes 50 ms: for
   * what is said before libtorch is loaded.
   *
   * @throws WorldException if Flotilla runs on no such system or processor
   */
  public static Platform ofProcessor() {
    return of(System.getProperty("os.name", ""), System.getProperty("os.arch", ""));
  }

  static Platform of(String system, String processor, Optional<String> glibc) {
    var platform = of(system, processor);
    platform.requireGlibc(glibc);
    return platform;
  }

  private static Platform of(String system, String processor) {
    if (!system.equals("Linux")) {
      throw new WorldException(
          "%s; this is %s on %s: use a Linux machine, %s"
              .formatted(SUPPORTED, system, processor, instead(system)));
    }
    return switch (processor) {
      case "amd64", "x86_64" -> LINUX_X86_64;
      case "aarch64", "arm64" -> LINUX_ARM64;
      default ->
          throw new WorldException(
              "%s; this processor is '%s': use a machine of one of these kinds"
                  .formatted(SUPPORTED, processor));
    };
  }

  private static String instead(String system) {
    return system.startsWith("Windows")
        ? "for example WSL 2 (wsl --install)"
        : "for example a virtual machine or a container with Debian 12";
  }

  private void requireGlibc(Optional<String> version) {
    if (version.isEmpty()) {
      throw new WorldException(
          SUPPORTED
              + "; this system has another C library (Alpine has musl): use a distribution or a"
              + " container with glibc");
    }
    var parts = GLIBC.matcher(version.get());
    if (parts.matches() && Integer.parseInt(parts.group(1)) < leastGlibc) {
      throw new WorldException(
          "%s; this one has %s: use a newer distribution, or a container with one"
              .formatted(SUPPORTED, version.get()));
    }
  }

  /** Returns the version that the C library states; nothing if it is not glibc. */
  private static Optional<String> glibcVersion() {
    var linker = Linker.nativeLinker();
    return linker
        .defaultLookup()
        .find("gnu_get_libc_version")
        .map(
            function -> {
              var handle =
                  linker.downcallHandle(function, FunctionDescriptor.of(ValueLayout.ADDRESS));
              try {
                var text = (java.lang.foreign.MemorySegment) handle.invokeExact();
                return text.reinterpret(64).getString(0);
              } catch (Throwable failure) {
                throw new IllegalStateException("cannot ask the C library its version", failure);
              }
            });
  }

  /** Returns the name as libraries carry it, such as {@code linux-arm64}. */
  @Override
  public String toString() {
    return id;
  }
}
