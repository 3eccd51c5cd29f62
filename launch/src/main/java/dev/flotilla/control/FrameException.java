package dev.flotilla.control;

import java.io.IOException;

/** Thrown for bytes that are no frame; the connection they came on is closed. */
final class FrameException extends IOException {

  FrameException(String message) {
    super(message);
  }
}
