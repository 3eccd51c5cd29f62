package dev.flotilla.zoo.model;

import dev.flotilla.memory.TensorScope;
import org.bytedeco.pytorch.Tensor;
import org.jspecify.annotations.Nullable;

/**
 * Of the last gradient of a thread it is known that what lies between its rows is zero, so that a
 * product may take the rows with what lies between them instead of a copy.
 *
 * <p>A gradient with gaps may as well be a part of a larger one, with numbers of others in them:
 * its shape does not tell. So the tensor itself is remembered until somebody asks, and no longer.
 */
final class ZeroGaps {

  private static final ThreadLocal<@Nullable Tensor> LAST = new ThreadLocal<>();

  private ZeroGaps() {}

  /** Remembers a gradient until the next one comes or somebody asks. */
  static void note(Tensor gradient) {
    forget();
    LAST.set(TensorScope.keep(new Tensor(gradient)));
  }

  /** Tells whether this is the gradient that was remembered, and forgets it. */
  static boolean areIn(Tensor gradient) {
    var last = LAST.get();
    boolean isSame = last != null && last.is_same(gradient);
    forget();
    return isSame;
  }

  private static void forget() {
    var last = LAST.get();
    if (last != null) {
      TensorScope.free(last);
      LAST.remove();
    }
  }
}
