package dev.flotilla.natives;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.tukaani.xz.XZInputStream;

/** The libraries between the binding's Java classes and libtorch on arm64; see module arm64. */
final class Glue {

  private static final String FOLDER = "/dev/flotilla/arm64/";
  static final List<String> LIBRARIES =
      List.of(
          "libjnitorch.so",
          "libjnitorch_gloo.so",
          "libjniopenblas.so",
          "libjniopenblas_nolapack.so");

  private Glue() {}

  /** Returns a name that changes with the libraries. */
  static String name() throws IOException {
    try (var packed = Glue.class.getResourceAsStream(FOLDER + LIBRARIES.getFirst() + ".xz")) {
      if (packed == null) {
        throw LibtorchBuild.refused(
            "the jar of dev.flotilla:flotilla-arm64 is not on the class path: add it to the"
                + " dependencies (Maven does so by itself on arm64)");
      }
      return "glue-" + LibtorchBuild.hash(packed).substring(0, 16);
    }
  }

  static void unpackInto(Path folder) throws IOException {
    for (var name : LIBRARIES) {
      try (var packed = Glue.class.getResourceAsStream(FOLDER + name + ".xz")) {
        if (packed == null) {
          throw new IOException(name + ".xz is not in the jar of flotilla-arm64");
        }
        Files.copy(new XZInputStream(packed), folder.resolve(name));
      }
    }
  }
}
