package dev.flotilla.launch.tls;

import java.io.Closeable;
import java.io.IOException;

/** Closes what is of no use any more. */
final class Closing {

  private Closing() {}

  static void quietly(Closeable it) {
    try {
      it.close();
    } catch (IOException e) {
      // Nothing is left that could be lost.
    }
  }
}
