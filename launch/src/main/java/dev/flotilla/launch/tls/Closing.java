package dev.flotilla.launch.tls;

import java.io.Closeable;
import java.io.IOException;
import java.net.Socket;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/** Closes what is of no use any more. */
final class Closing {

  private static final int LINGERS_MILLIS = 1000;
  private static final int MOST_UNREAD = 1 << 16;

  private Closing() {}

  /** What is closed with something unread is reset, and the other end never reads the last word. */
  static void afterLastWord(Socket socket) {
    try {
      socket.setSoTimeout(LINGERS_MILLIS);
      socket.shutdownOutput();
      socket.getInputStream().skipNBytes(MOST_UNREAD);
    } catch (IOException e) {
      // The other end has closed, or says nothing more.
    }
    quietly(socket);
  }

  /** Closes something after a while, unless that is cancelled. */
  static Future<?> later(ScheduledExecutorService clock, Closeable it, Duration after) {
    try {
      return clock.schedule(() -> quietly(it), after.toMillis(), TimeUnit.MILLISECONDS);
    } catch (RejectedExecutionException e) {
      // The launcher ends, and nothing may begin any more.
      quietly(it);
      return CompletableFuture.completedFuture(null);
    }
  }

  static void quietly(Closeable it) {
    try {
      it.close();
    } catch (IOException e) {
      // Nothing is left that could be lost.
    }
  }
}
