package dev.flotilla.launch;

import dev.flotilla.control.ProcessSignals;
import dev.flotilla.world.ExitCodes;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Listens to whoever wants the launch to end.
 *
 * <p>SIGTERM and SIGUSR1 ask for a stop at which nothing is lost; a second one ends the launch at
 * once. SIGINT and SIGHUP do so the first time: they make the JVM end, which is held back until the
 * ranks are stopped.
 *
 * <p>A launching thread that does not come to look, because a full pipe or a dead disk holds it, is
 * not waited for: the process ends without it, and the ranks with the process.
 */
final class Interruption implements AutoCloseable {

  private static final Duration LONGEST = Duration.ofSeconds(12);

  /** Longer than a launcher takes to name a failure and to end its ranks, without a look here. */
  private static final Duration LONGEST_UNSEEN = Duration.ofSeconds(20);

  private final Duration longestUnseen;
  private final IntConsumer halt;
  private final CountDownLatch requested = new CountDownLatch(1);
  private final CountDownLatch finished = new CountDownLatch(1);
  private final AtomicReference<@Nullable String> stopSignal = new AtomicReference<>();
  private final Thread hook =
      Thread.ofPlatform().name("flotilla-launcher-stop").unstarted(this::holdBack);
  private volatile int exitCode = ExitCodes.INTERRUPTED;
  private volatile long lastLook = System.nanoTime();
  private @Nullable ProcessSignals signals;

  private Interruption(Duration longestUnseen, IntConsumer halt) {
    this.longestUnseen = longestUnseen;
    this.halt = halt;
  }

  /** Starts to listen. */
  static Interruption listen() {
    return listen(LONGEST_UNSEEN, Runtime.getRuntime()::halt);
  }

  /**
   * Starts to listen.
   *
   * @param longestUnseen how long the launching thread may leave a signal unseen
   * @param halt ends the process with an exit code
   */
  static Interruption listen(Duration longestUnseen, IntConsumer halt) {
    var interruption = new Interruption(longestUnseen, halt);
    try {
      Runtime.getRuntime().addShutdownHook(interruption.hook);
      interruption.signals = ProcessSignals.listen(interruption::signalled);
    } catch (IllegalStateException e) {
      interruption.request();
    }
    return interruption;
  }

  /** Takes a signal that asks for a stop. */
  void signalled(String name) {
    if (stopSignal.compareAndSet(null, name)) {
      Thread.ofPlatform().daemon().name("flotilla-launcher-end").start(() -> endUnseen(name));
    } else {
      request(name);
    }
  }

  private void endUnseen(String signal) {
    lastLook = System.nanoTime();
    try {
      long left = longestUnseen.toNanos();
      while (left > 0) {
        if (finished.await(left, TimeUnit.NANOSECONDS)) {
          return;
        }
        left = longestUnseen.toNanos() - (System.nanoTime() - lastLook);
      }
      halt.accept(Signals.exitCode(signal));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Notes that the launch shall end. */
  void request() {
    requested.countDown();
  }

  /** Notes that the launch shall end as this signal would end it. */
  void request(String signal) {
    exitCode = Signals.exitCode(signal);
    request();
  }

  boolean isRequested() {
    lastLook = System.nanoTime();
    return requested.getCount() == 0;
  }

  /** Returns the signal that has asked for a stop. */
  Optional<String> stopSignal() {
    lastLook = System.nanoTime();
    return Optional.ofNullable(stopSignal.get());
  }

  /** Tells whether anybody wants the launch to end, at once or after a stop. */
  boolean isAskedFor() {
    return isRequested() || stopSignal().isPresent();
  }

  /** Returns the exit code of a launch that ends because of a request. */
  int exitCode() {
    return exitCode;
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
    if (signals != null) {
      signals.close();
    }
    finished.countDown();
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException e) {
      // The JVM is ending already, which is what the hook is for.
    }
  }
}
