package dev.flotilla.launch;

import dev.flotilla.control.ProcessSignals;
import dev.flotilla.world.ExitCodes;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Listens to whoever wants the launch to end.
 *
 * <p>SIGTERM and SIGUSR1 ask for a stop at which nothing is lost; a second one ends the launch at
 * once. SIGINT and SIGHUP do so the first time: they make the JVM end, which is held back until the
 * ranks are stopped.
 */
final class Interruption implements AutoCloseable {

  private static final Duration LONGEST = Duration.ofSeconds(12);

  private final CountDownLatch requested = new CountDownLatch(1);
  private final CountDownLatch finished = new CountDownLatch(1);
  private final AtomicReference<@Nullable String> stopSignal = new AtomicReference<>();
  private final Thread hook =
      Thread.ofPlatform().name("flotilla-launcher-stop").unstarted(this::holdBack);
  private volatile int exitCode = ExitCodes.INTERRUPTED;
  private @Nullable ProcessSignals signals;

  /** Starts to listen. */
  static Interruption listen() {
    var interruption = new Interruption();
    try {
      Runtime.getRuntime().addShutdownHook(interruption.hook);
      interruption.signals = ProcessSignals.listen(interruption::signalled);
    } catch (IllegalStateException e) {
      interruption.request();
    }
    return interruption;
  }

  private void signalled(String name) {
    if (!stopSignal.compareAndSet(null, name)) {
      request(name);
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
    return requested.getCount() == 0;
  }

  /** Returns the signal that has asked for a stop. */
  Optional<String> stopSignal() {
    return Optional.ofNullable(stopSignal.get());
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
