package dev.flotilla.launch;

import java.io.PrintStream;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/** Keeps the launcher's own lines apart from the output of the rank it shows. */
final class Console {

  private static final String PREFIX = "flotilla: ";

  private final PrintStream out;
  private final PrintStream err;
  private final TerminalFilter filter = new TerminalFilter();
  private final PrefixGuard guard = new PrefixGuard();
  private final ReentrantLock lock = new ReentrantLock();
  private volatile boolean insideLine;

  Console(LaunchOutput output) {
    this.out = output.out();
    this.err = output.err();
  }

  /**
   * Passes on output of a rank as it came, but for what could command a terminal or look like the
   * launcher's own messages.
   */
  void pass(byte[] bytes, int count) {
    lock.lock();
    try {
      byte[] shown = guard.guard(filter.filter(bytes, count));
      out.write(shown, 0, shown.length);
      out.flush();
      insideLine = bytes[count - 1] != '\n';
    } finally {
      lock.unlock();
    }
  }

  /** Shows what was held back of a rank's output, which has ended. */
  void passRest() {
    lock.lock();
    try {
      out.writeBytes(guard.endLine());
      out.flush();
    } finally {
      lock.unlock();
    }
  }

  /** Prints text for people to standard output. */
  void print(String text) {
    apart(out, text);
  }

  /** Prints one of the launcher's own messages. */
  void say(String message) {
    apart(err, PREFIX + indented(TerminalFilter.text(message)) + "\n");
  }

  /** What others say must not look like a message of its own. */
  private static String indented(String message) {
    return message.replaceAll("\\r\\n?|\\n(?! )", "\n  ");
  }

  /** Prints on a line of its own, also when the lock is held by someone a full pipe has stopped. */
  private void apart(PrintStream stream, String text) {
    boolean locked = tryLock();
    try {
      if (insideLine) {
        out.writeBytes(guard.endLine());
        out.println();
        out.flush();
        insideLine = false;
      }
      stream.print(text);
      stream.flush();
    } finally {
      if (locked) {
        lock.unlock();
      }
    }
  }

  private boolean tryLock() {
    try {
      return lock.tryLock(1, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }
}
