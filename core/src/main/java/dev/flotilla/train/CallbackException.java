package dev.flotilla.train;

import java.util.Objects;

/** Says which callback has failed, in which call and where in the run; the cause says why. */
public final class CallbackException extends RuntimeException {

  private static final long serialVersionUID = 1;

  CallbackException(Callback callback, String call, long updates, RuntimeException cause) {
    super(
        "callback %s failed in %s after update %d: %s"
            .formatted(
                callback.getClass().getName(),
                call,
                updates,
                Objects.requireNonNullElse(cause.getMessage(), cause.toString())),
        cause);
  }
}
