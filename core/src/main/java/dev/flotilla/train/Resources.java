package dev.flotilla.train;

import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/** Closes what a trainer opened, in reverse order, whatever fails on the way. */
final class Resources implements AutoCloseable {

  private final Deque<AutoCloseable> open = new ArrayDeque<>();

  <C extends AutoCloseable> C own(C resource) {
    open.push(resource);
    return resource;
  }

  /** Closes everything and attaches failures to the one that is under way. */
  void closeAfter(Throwable failure) {
    var closing = closeAll();
    if (closing != null) {
      failure.addSuppressed(closing);
    }
  }

  @Override
  public void close() {
    var failure = closeAll();
    if (failure != null) {
      throw new IllegalStateException("could not close the trainer", failure);
    }
  }

  private @Nullable Exception closeAll() {
    Exception first = null;
    while (!open.isEmpty()) {
      try {
        open.pop().close();
      } catch (Exception failure) {
        if (first == null) {
          first = failure;
        } else {
          first.addSuppressed(failure);
        }
      }
    }
    return first;
  }
}
