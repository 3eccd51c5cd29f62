package dev.flotilla.launch.tls;

import java.io.IOException;

/** Thrown where the other end of a connection is not one of this job's. */
final class UntrustedException extends IOException {

  private static final long serialVersionUID = 1;

  UntrustedException(String reason) {
    super(reason);
  }
}
