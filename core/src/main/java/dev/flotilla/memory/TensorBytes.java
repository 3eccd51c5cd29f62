package dev.flotilla.memory;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.File;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The bytes of tensors in main memory as the glue for arm64 counts them: libtorch's allocator there
 * is not the C library's. Elsewhere the C library's figures hold them already, and this is 0.
 */
final class TensorBytes {

  private static final String COUNTER = "flotilla_live_tensor_bytes";
  private static volatile @Nullable MethodHandle counter;

  private TensorBytes() {}

  static long live() throws Throwable {
    var found = counter;
    if (found == null) {
      // Before libtorch is loaded there is no tensor, and the glue cannot be loaded without it.
      counter = found = find().orElse(null);
    }
    return found == null ? 0 : (long) found.invokeExact();
  }

  private static Optional<MethodHandle> find() {
    return NativeLibraries.folders()
        .flatMap(
            folders ->
                Arrays.stream(folders.split(File.pathSeparator, -1))
                    .map(folder -> Path.of(folder, "libjnitorch.so"))
                    .filter(Files::isRegularFile)
                    .findFirst())
        .flatMap(TensorBytes::counterOf);
  }

  private static Optional<MethodHandle> counterOf(Path glue) {
    try {
      return SymbolLookup.libraryLookup(glue, Arena.global())
          .find(COUNTER)
          .map(
              function ->
                  Linker.nativeLinker().downcallHandle(function, FunctionDescriptor.of(JAVA_LONG)));
    } catch (IllegalArgumentException notLoaded) {
      return Optional.empty();
    }
  }
}
