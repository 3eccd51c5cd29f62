package dev.flotilla.app;

/** A user's program that fails with secrets in the message of its exception. */
public final class LeakingProgram {

  private LeakingProgram() {}

  /** Fails at once. */
  public static void main(String[] args) {
    throw new IllegalStateException(
        "cannot read %s with %s".formatted(System.getenv("MIRROR"), System.getenv("HF_TOKEN")));
  }
}
