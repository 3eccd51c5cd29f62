package dev.flotilla.exchange;

import dev.flotilla.memory.CpuThreads;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * Runs what belongs to an exchange, one task after another, beside the thread that trains.
 *
 * <p>Every wait inside a task has the timeout of its collective, so waiting for tasks ends too.
 */
final class ExchangeThread implements Executor, AutoCloseable {

  private final ExecutorService thread;

  ExchangeThread(String name) {
    thread =
        Executors.newSingleThreadExecutor(
            CpuThreads.helpers(Thread.ofPlatform().name(name).daemon().factory()));
  }

  /** Starts a task as soon as those before it are done. */
  @Override
  public void execute(Runnable task) {
    thread.execute(task);
  }

  /** Lets the task that runs come to its end and drops the others. */
  @Override
  public void close() {
    thread.shutdownNow();
    thread.close();
  }
}
