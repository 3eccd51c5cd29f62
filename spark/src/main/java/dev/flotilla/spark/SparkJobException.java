package dev.flotilla.spark;

/** Says why a job was refused or has failed, in words for people. */
public final class SparkJobException extends RuntimeException {

  private static final long serialVersionUID = 1;

  /** Leads the message of a task that refuses to start anything, which no restart mends. */
  static final String REFUSED = "flotilla refuses: ";

  private final int exitCode;

  SparkJobException(int exitCode, String message) {
    super(message);
    this.exitCode = exitCode;
  }

  /** Returns the exit code of the job, as {@code flotilla run} would have it. */
  public int exitCode() {
    return exitCode;
  }
}
