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

  private final CountDownLatch requested = new CountDownLatch(1);
  private final CountDownLatch finished = new CountDownLatch(1);
  private final Thread hook =
      Thread.ofPlatform().name("flotilla-launcher-stop").unstarted(this::holdBack);

  /** Starts to listen. */
  static Interruption listen() {
    var interruption = new Interruption();
    try {
      Runtime.getRuntime().addShutdownHook(interruption.hook);
    } catch (IllegalStateException e) {
      interruption.request();
    }
    return interruption;
  }

  /** Notes that the launch shall end. */
  void request() {
    requested.countDown();
  }

  boolean isRequested() {
    return requested.getCount() == 0;
  }

  /** Waits for a request that others may have seen earlier; tells whether it has come. */
  boolean awaitRequest(Duration longest) throws InterruptedException {
    return requested.await(longest.toMillis(), TimeUnit.MILLISECONDS);
  }

  private void holdBack() {
    request();
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
