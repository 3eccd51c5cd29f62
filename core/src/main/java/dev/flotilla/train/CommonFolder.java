package dev.flotilla.train;

import dev.flotilla.collective.Collective;
import java.nio.file.Path;

/** Lets all ranks speak of rank 0's folder, whatever each of them was given. */
final class CommonFolder {

  private static final String KEY = "path";

  private CommonFolder() {}

  /** Returns the folder that rank 0 means; all ranks call it together. */
  static Path of(Collective collective, Path own) {
    if (collective.size() == 1) {
      return own;
    }
    var store = collective.keyValueStore().section("folder");
    if (collective.rank() == 0) {
      store.set(KEY, own.toAbsolutePath().toString());
    }
    collective.barrier();
    return store.get(KEY).map(Path::of).orElse(own);
  }
}
