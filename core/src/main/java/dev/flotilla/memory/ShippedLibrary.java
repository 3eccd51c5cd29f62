package dev.flotilla.memory;

import dev.flotilla.natives.NativeCache;
import dev.flotilla.world.Platform;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;

/** Our own native code, as it lies in Flotilla's jar ({@code core/src/main/native}). */
final class ShippedLibrary {

  private ShippedLibrary() {}

  /** Unpacks a library into the cache, once for each version of it, and returns its file. */
  static Path unpack(String name, Platform platform, NativeCache cache) {
    String file = "libflotilla_%s.so".formatted(name);
    String resource = "/dev/flotilla/natives/%s/%s".formatted(platform, file);
    try (var content = ShippedLibrary.class.getResourceAsStream(resource)) {
      if (content == null) {
        throw new IllegalStateException(file + " is not in Flotilla's jar");
      }
      var bytes = content.readAllBytes();
      var folder = name + "-" + Integer.toHexString(Arrays.hashCode(bytes));
      return cache.ensure(folder, made -> Files.write(made.resolve(file), bytes)).resolve(file);
    } catch (IOException damaged) {
      throw new IllegalStateException("cannot read Flotilla's jar", damaged);
    }
  }
}
