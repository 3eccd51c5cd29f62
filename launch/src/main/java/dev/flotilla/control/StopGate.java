package dev.flotilla.control;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Holds a training thread back while the ranks agree on the micro-step after which all stop.
 *
 * <p>A rank that was asked where it is may go on to the next micro-step and no further. The
 * furthest rank's next one is where all stop, so none has passed it, and none waits for a peer that
 * stopped earlier.
 */
final class StopGate {

  private static final long OPEN = Long.MAX_VALUE;

  private final Duration longestWait;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private volatile long current = RankPlace.NONE;
  private volatile long limit = OPEN;
  private volatile long stop = OPEN;

  StopGate(Duration longestWait) {
    this.longestWait = longestWait;
  }

  /** Called by the training thread before a micro-step. */
  void begin(long microStep) {
    boolean isFirst = current == RankPlace.NONE;
    // Written before the limit is read, as request() writes the limit before it reads again.
    current = microStep;
    if (microStep > limit) {
      hold(microStep, isFirst);
    }
  }

  private void hold(long microStep, boolean isFirst) {
    lock.lock();
    try {
      if (isFirst && limit == RankPlace.NONE) {
        limit = microStep;
      }
      awaitDecision(microStep, 1);
    } finally {
      lock.unlock();
    }
  }

  /** Called by the training thread behind a micro-step. */
  boolean stopsAfter(long microStep) {
    if (microStep >= limit) {
      lock.lock();
      try {
        awaitDecision(microStep, 0);
      } finally {
        lock.unlock();
      }
    }
    return microStep >= stop;
  }

  /** Waits while the micro-step is at least so far behind the limit. */
  private void awaitDecision(long microStep, int beyond) {
    long left = longestWait.toNanos();
    while (limit != OPEN && microStep - beyond >= limit) {
      try {
        left = left > 0 ? changed.awaitNanos(left) : giveUp();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return;
      }
    }
  }

  private long giveUp() {
    limit = OPEN;
    return TimeUnit.SECONDS.toNanos(1);
  }

  /** Starts an agreement: returns the micro-step begun last, and lets at most one more begin. */
  long request() {
    lock.lock();
    try {
      long seen;
      do {
        seen = current;
        limit = seen == RankPlace.NONE ? RankPlace.NONE : seen + 1;
      } while (current != seen);
      return seen;
    } finally {
      lock.unlock();
    }
  }

  /** Ends an agreement with its result. */
  void decide(long microStep) {
    stop = microStep;
    open();
  }

  /** Tells whether it is known where to stop. */
  boolean isDecided() {
    return stop != OPEN;
  }

  /** Ends an agreement without any. */
  void cancel() {
    open();
  }

  private void open() {
    lock.lock();
    try {
      limit = OPEN;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** Forgets where the training thread was, for a training that follows. */
  void reset() {
    current = RankPlace.NONE;
    stop = OPEN;
    open();
  }
}
