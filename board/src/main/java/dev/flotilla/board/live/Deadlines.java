package dev.flotilla.board.live;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Ends threads that are stuck: an interrupt closes the socket that a thread writes to, so a client
 * that does not read costs its own connection and nothing else.
 */
final class Deadlines implements AutoCloseable {

  private static final Duration TICK = Duration.ofMillis(250);

  private final Map<Thread, Long> ends = new ConcurrentHashMap<>();
  private final Thread watch = Thread.ofVirtual().name("board-deadlines").start(this::watch);

  /** Gives the calling thread so much time, from now on; what it had is void. */
  void within(Duration time) {
    ends.put(Thread.currentThread(), System.nanoTime() + time.toNanos());
  }

  /** Takes the calling thread's deadline away. */
  void lift() {
    ends.remove(Thread.currentThread());
  }

  private void watch() {
    try {
      while (true) {
        Thread.sleep(TICK);
        long now = System.nanoTime();
        ends.forEach(
            (thread, end) -> {
              if (now - end > 0 && ends.remove(thread, end)) {
                thread.interrupt();
              }
            });
      }
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public void close() {
    watch.interrupt();
  }
}
