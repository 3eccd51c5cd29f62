package dev.flotilla.memory;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import dev.flotilla.natives.NativeCache;
import dev.flotilla.settings.ConfigException;
import dev.flotilla.world.Platform;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;

/** The library that computes libtorch's matrix products; all of them use libtorch's threads. */
enum Blas {
  /** On x86-64: OpenBLAS, whose products are cut for libtorch's threads (blas_threads.c). */
  OPENBLAS("OpenBLAS, on the same threads"),
  /** On x86-64, if its libraries are on the class path: Intel's. */
  MKL("MKL, on the same threads"),
  /** On arm64: what PyTorch's wheel brings, built with OpenMP. */
  WHEEL("PyTorch's OpenBLAS, on the same threads");

  /** The variable that chooses. */
  static final String VARIABLE = "FLOTILLA_BLAS";

  private static final String MKL_LIBRARY = "/org/bytedeco/mkl/linux-x86_64/libmkl_rt.so.2";
  private static final String JAVACPP_CHOICE = "org.bytedeco.openblas.load";
  private static final int NOW_AND_GLOBAL = 0x102;

  private final String words;

  Blas(String words) {
    this.words = words;
  }

  String describe() {
    return words;
  }

  /**
   * Returns the library that will be used.
   *
   * @throws ConfigException if another one is asked for than can be had
   */
  static Blas chosen(Map<String, String> environment) {
    return chosen(environment, Platform.ofProcessor(), Blas.class.getResource(MKL_LIBRARY) != null);
  }

  static Blas chosen(Map<String, String> environment, Platform platform, boolean isMklThere) {
    var asked = environment.getOrDefault(VARIABLE, "").toLowerCase(Locale.ROOT);
    boolean isArm = platform == Platform.LINUX_ARM64;
    return switch (asked) {
      case "", "auto" -> isArm ? WHEEL : isMklThere ? MKL : OPENBLAS;
      case "openblas" -> isArm ? WHEEL : OPENBLAS;
      case "mkl" -> {
        if (isArm || !isMklThere) {
          throw new ConfigException(
              VARIABLE,
              isArm
                  ? "mkl is for x86-64 alone: unset it"
                  : "mkl is asked for, but its libraries are not on the class path: build with"
                      + " FLOTILLA_BLAS=mkl ./flotilla (Maven: -P mkl), or unset it");
        }
        yield MKL;
      }
      default ->
          throw new ConfigException(
              VARIABLE, "must be auto, openblas or mkl, but was '" + asked + "'");
    };
  }

  /** Prepares the process before libtorch is loaded. */
  void prepare(NativeCache cache) {
    switch (this) {
      case OPENBLAS -> {
        if (System.getProperty(JAVACPP_CHOICE) == null) { // else the user has another one loaded
          Environment.setIfAbsent("OPENBLAS_NUM_THREADS", "1");
          loadGlobally(ShippedLibrary.unpack("blas", Platform.LINUX_X86_64, cache));
        }
      }
      case MKL -> {
        Environment.setIfAbsent("MKL_THREADING_LAYER", "GNU");
        System.getProperties().putIfAbsent(JAVACPP_CHOICE, "mkl_rt");
      }
      case WHEEL -> {}
    }
  }

  /** libtorch looks for products among global symbols first. */
  private static void loadGlobally(Path library) {
    var linker = Linker.nativeLinker();
    var dlopen =
        linker.downcallHandle(
            linker.defaultLookup().findOrThrow("dlopen"),
            FunctionDescriptor.of(ADDRESS, ADDRESS, JAVA_INT));
    try (var arena = Arena.ofConfined()) {
      var name = arena.allocateFrom(library.toString());
      var handle = (MemorySegment) dlopen.invokeExact(name, NOW_AND_GLOBAL);
      if (handle.address() == 0) {
        throw new IllegalStateException(library + " cannot be loaded");
      }
    } catch (IllegalStateException failure) {
      throw failure;
    } catch (Throwable failure) {
      throw new IllegalStateException("cannot load " + library, failure);
    }
  }
}
