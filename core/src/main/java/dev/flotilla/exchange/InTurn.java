package dev.flotilla.exchange;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.Executor;

/**
 * Runs tasks on the caller's thread, one after another: one that a task gives waits for its end.
 */
final class InTurn implements Executor {

  private final Deque<Runnable> waiting = new ArrayDeque<>();
  private boolean isRunning;

  @Override
  public void execute(Runnable task) {
    waiting.add(task);
    if (isRunning) {
      return;
    }
    isRunning = true;
    try {
      while (!waiting.isEmpty()) {
        waiting.remove().run();
      }
    } finally {
      isRunning = false;
    }
  }
}
