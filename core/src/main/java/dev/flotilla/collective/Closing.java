package dev.flotilla.collective;

import org.jspecify.annotations.Nullable;

/** Closes several things although some of them complain, and complains at the end. */
final class Closing {

  private @Nullable RuntimeException first;

  void close(Runnable closing) {
    try {
      closing.run();
    } catch (RuntimeException e) {
      remember(e);
    }
  }

  private void remember(RuntimeException e) {
    if (first == null) {
      first = e;
    } else {
      first.addSuppressed(e);
    }
  }

  void rethrow() {
    if (first != null) {
      throw first;
    }
  }
}
