package dev.flotilla.app;

/** A user's program that fails with secrets in the message of its exception. */
public final class LeakingProgram {

  private LeakingProgram() {}

  /** Fails at once, unless it is given something. */
  public static void main(String[] args) {
    if (args.length == 0) {
      throw new IllegalStateException(
          "cannot read %s with %s".formatted(System.getenv("MIRROR"), System.getenv("HF_TOKEN")));
    }
  }
}
