package dev.flotilla.collective;

import dev.flotilla.control.SharedValues;
import java.io.IOException;
import java.time.Duration;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;

/**
 * Carries what native code writes to the store of its rank to the stores of all other ranks.
 *
 * <p>A thread compares the store with the values of the control channel: often while ranks connect,
 * when native code waits for each value, and seldom afterwards.
 */
final class StoreMirror implements AutoCloseable {

  private static final Duration OFTEN = Duration.ofMillis(3);
  private static final Duration SELDOM = Duration.ofMillis(250);

  /** How long after the last new value the store is still looked at often. */
  private static final Duration SETTLES_AFTER = Duration.ofSeconds(2);

  private static final Duration CLOSING_TAKES = Duration.ofSeconds(2);

  private final NativeStore store;
  private final SharedValues values;
  private final String prefix;
  private final Duration timeout;
  private final Set<String> known = new HashSet<>();
  private final Thread thread;
  private long lastNews = System.nanoTime();
  private volatile boolean isClosed;

  /**
   * Creates a mirror.
   *
   * @param prefix where the values of native code are on the control channel
   */
  StoreMirror(NativeStore store, SharedValues values, String prefix, Duration timeout) {
    this.store = store;
    this.values = values;
    this.prefix = prefix;
    this.timeout = timeout;
    this.thread = Thread.ofPlatform().daemon().name("flotilla-mirror").unstarted(this::run);
  }

  void start() {
    thread.start();
  }

  private void run() {
    try {
      while (!isClosed) {
        boolean hasSent = send();
        if (receive() || hasSent) {
          lastNews = System.nanoTime();
        }
        boolean isSettled = System.nanoTime() - lastNews > SETTLES_AFTER.toNanos();
        LockSupport.parkNanos((isSettled ? SELDOM : OFTEN).toNanos());
      }
    } catch (IOException | RendezvousException e) {
      // Native code that waits for a value runs into its own timeout, and its rank says so.
    }
  }

  private boolean send() throws IOException {
    boolean isAny = false;
    for (Map.Entry<String, byte[]> entry : store.entriesExcept(known).entrySet()) {
      known.add(entry.getKey());
      values.put(prefix + entry.getKey(), entry.getValue(), timeout);
      isAny = true;
    }
    return isAny;
  }

  private boolean receive() throws IOException {
    boolean isAny = false;
    for (Map.Entry<String, byte[]> entry : values.all(prefix).entrySet()) {
      String key = entry.getKey().substring(prefix.length());
      if (known.add(key)) {
        store.set(key, entry.getValue());
        isAny = true;
      }
    }
    return isAny;
  }

  @Override
  public void close() {
    isClosed = true;
    LockSupport.unpark(thread);
    try {
      thread.join(CLOSING_TAKES);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
