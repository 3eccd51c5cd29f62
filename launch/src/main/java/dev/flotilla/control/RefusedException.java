package dev.flotilla.control;

import java.io.IOException;

/** Thrown when connecting again would be in vain. */
final class RefusedException extends IOException {

  RefusedException(String message) {
    super(message);
  }
}
