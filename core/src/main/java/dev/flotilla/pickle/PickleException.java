package dev.flotilla.pickle;

/** Thrown when a pickle is malformed or asks for what is not allowed; names the byte. */
public final class PickleException extends Exception {

  private final long position;

  PickleException(long position, String message) {
    super(message);
    this.position = position;
  }

  /** Returns the byte, counted from the start of the pickle. */
  public long position() {
    return position;
  }
}
