package dev.flotilla.launch;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Holds back the end of this JVM, asked for by SIGINT or SIGTERM, until the ranks are stopped.
 *
 * <p>The JVM itself then ends with 130 or 143.
 */
final class Interruption implements AutoCloseable {

  private static final Duration LONGEST = Duration.ofSeconds(12);

  private final CountDownLatch finished = new CountDownLatch(1);
  private final Thread hook =
      Thread.ofPlatform().name("flotilla-launcher-stop").unstarted(this::holdBack);
  private volatile boolean requested;

  /** Starts to listen. */
  static Interruption listen() {
    var interruption = new Interruption();
    try {
      Runtime.getRuntime().addShutdownHook(interruption.hook);
    } catch (IllegalStateException e) {
      interruption.requested = true;
    }
    return interruption;
  }

  /** Notes that the launch shall end. */
  void request() {
    requested = true;
  }

  boolean isRequested() {
    return requested;
  }

  private void holdBack() {
    requested = true;
    try {
      boolean _ = finished.await(LONGEST.toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Lets the JVM end. */
  @Override
  public void close() {
    finished.countDown();
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException e) {
      // The JVM is ending already, which is what the hook is for.
    }
  }
}
