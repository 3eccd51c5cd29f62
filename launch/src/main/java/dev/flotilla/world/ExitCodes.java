package dev.flotilla.world;

/** The exit codes of the command line, the launcher and every rank. */
public final class ExitCodes {

  /** Everything asked for was done. */
  public static final int OK = 0;

  /** The run failed: an exception that is none of the kinds below. */
  public static final int FAILED = 1;

  /** Wrong command line, recipe or environment; nothing was started. */
  public static final int USAGE = 2;

  /**
   * The Java heap is exhausted; the JVM itself ends so with {@code -XX:+ExitOnOutOfMemoryError}.
   */
  public static final int OUT_OF_MEMORY = 3;

  /** Each setting is fine, but the combination of techniques is not. */
  public static final int PLAN_REJECTED = 4;

  /** A collective failed because of a peer or a link: a consequence, hardly ever the cause. */
  public static final int PEER_FAILED = 5;

  /** The ranks did not find each other. */
  public static final int RENDEZVOUS_FAILED = 6;

  /** A loss or gradient is not finite, or ranks hold different parameters. */
  public static final int NUMERICAL = 7;

  /** A checkpoint could not be written or read. */
  public static final int CHECKPOINT = 8;

  /** A rank hung: it fell silent, or the others waited for it in vain. */
  public static final int HANG = 9;

  /** Stopped on request; the state is saved, resume to go on. */
  public static final int STOPPED = 10;

  /** Added to a signal's number when a signal ended the process. */
  public static final int SIGNAL = 128;

  /** The run was interrupted from the keyboard (SIGINT). */
  public static final int INTERRUPTED = SIGNAL + 2;

  private ExitCodes() {}

  /** Tells whether the code stands for a signal. */
  public static boolean isSignal(int code) {
    return code > SIGNAL && code <= SIGNAL + 64;
  }

  /** Returns what a code that is not a signal's means, in a few words. */
  public static String describe(int code) {
    return switch (code) {
      case OK -> "ended well";
      case USAGE -> "wrong command line, configuration or environment";
      case OUT_OF_MEMORY -> "out of Java heap, or the program's own exit code";
      case PLAN_REJECTED -> "the combination of techniques was rejected";
      case PEER_FAILED -> "a collective failed because of a peer or a link";
      case RENDEZVOUS_FAILED -> "the ranks did not find each other";
      case NUMERICAL -> "a loss or gradient is not finite, or ranks hold different parameters";
      case CHECKPOINT -> "a checkpoint could not be written or read";
      case HANG -> "a rank hung";
      case STOPPED -> "stopped on request; the state is saved, resume to go on";
      default -> "the program failed";
    };
  }
}
