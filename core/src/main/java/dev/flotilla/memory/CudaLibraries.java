package dev.flotilla.memory;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.SymbolLookup;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Says in one message which of the host's libraries keep libtorch's CUDA part from working. */
final class CudaLibraries {

  private static final String DRIVER = "libcuda.so.1";
  private static final List<String> NEEDED =
      List.of(
          "libcudart.so.13",
          "libcublas.so.13",
          "libcublasLt.so.13",
          "libcufft.so.12",
          "libcurand.so.10",
          "libcusparse.so.12",
          "libcufile.so.0",
          "libcudnn.so.9",
          "libnccl.so.2");
  private static final List<String> USUAL_FOLDERS =
      List.of(
          "/usr/local/cuda/lib64",
          "/usr/local/cuda/targets/x86_64-linux/lib",
          "/usr/lib/x86_64-linux-gnu",
          "/usr/lib64",
          "/usr/lib");

  private CudaLibraries() {}

  /** Returns what is missing on this host; nothing if all is there. */
  static Optional<String> missing() {
    return missing(CudaLibraries::canBeLoaded, System.getenv("LD_LIBRARY_PATH"));
  }

  static Optional<String> missing(Predicate<String> isThere, @Nullable String libraryPath) {
    if (!isThere.test(DRIVER)) {
      return Optional.of(
          "there is no NVIDIA driver here (%s is not found): install one, 580 or later, or use device: cpu"
              .formatted(DRIVER));
    }
    var absent = NEEDED.stream().filter(isThere.negate()).toList();
    if (absent.isEmpty()) {
      return Optional.empty();
    }
    List<String> others = new ArrayList<>();
    absent.forEach(name -> others.addAll(otherVersions(name, libraryPath)));
    return Optional.of(
        "libtorch's CUDA build does not find %s%s: it takes CUDA 13, cuDNN 9 and NCCL 2; install them, or put their folders into LD_LIBRARY_PATH, or use device: cpu"
            .formatted(
                String.join(", ", absent),
                others.isEmpty() ? "" : ", only " + String.join(", ", others)));
  }

  private static boolean canBeLoaded(String name) {
    try (var arena = Arena.ofConfined()) {
      SymbolLookup.libraryLookup(name, arena);
      return true;
    } catch (IllegalArgumentException notThere) {
      return false;
    }
  }

  private static Set<String> otherVersions(String name, @Nullable String libraryPath) {
    List<String> folders = new ArrayList<>(USUAL_FOLDERS);
    if (libraryPath != null) {
      folders.addAll(List.of(libraryPath.split(":", -1)));
    }
    String start = name.substring(0, name.indexOf(".so.") + 4);
    var found = new TreeSet<String>();
    folders.stream()
        .filter(folder -> !folder.isBlank())
        .map(Path::of)
        .filter(Files::isDirectory)
        .forEach(folder -> addFrom(folder, start, found));
    return found;
  }

  private static void addFrom(Path folder, String start, Set<String> found) {
    try (DirectoryStream<Path> files = Files.newDirectoryStream(folder, start + "*")) {
      files.forEach(file -> found.add(file.toString()));
    } catch (IOException unreadable) {
      found.add(folder + " (unreadable)");
    }
  }
}
