package dev.flotilla.exchange;

import dev.flotilla.memory.CpuThreads;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * Runs what belongs to an exchange, one task after another, beside the thread that trains.
 *
 * <p>Every wait inside a task has the timeout of its collective, so waiting for tasks ends too.
 */
final class ExchangeThread implements AutoCloseable {

  private final ExecutorService thread;
  private final List<Future<?>> tasks = new ArrayList<>();

  ExchangeThread(String name) {
    thread =
        Executors.newSingleThreadExecutor(
            CpuThreads.helpers(Thread.ofPlatform().name(name).daemon().factory()));
  }

  /** Starts a task as soon as those before it are done. */
  void add(Runnable task) {
    tasks.add(thread.submit(task));
  }

  /** Waits for all tasks, and throws what the first one that failed has thrown. */
  void await() {
    try {
      for (var task : tasks) {
        task.get();
      }
    } catch (ExecutionException failure) {
      throw asRuntime(failure);
    } catch (InterruptedException interruption) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while ranks exchanged", interruption);
    } finally {
      tasks.clear();
    }
  }

  private static RuntimeException asRuntime(ExecutionException failure) {
    return switch (failure.getCause()) {
      case RuntimeException exception -> exception;
      case Error error -> throw error;
      case null, default -> new IllegalStateException(failure);
    };
  }

  /** Lets the task that runs come to its end and drops the others. */
  @Override
  public void close() {
    thread.shutdownNow();
    thread.close();
  }
}
