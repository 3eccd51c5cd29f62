package dev.flotilla.model;

import dev.flotilla.memory.TensorScope;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.bytedeco.pytorch.Tensor;

/**
 * Where gradients of parameters belong, open to those who can write them there at once: each to the
 * first one of a backward, and to the backward of an {@link AutogradFunction} alone, as others'
 * gradients may be copied on their way.
 *
 * <p>Thread-safe: backward has threads of its own.
 */
public final class GradientRooms {

  /** By the address of the parameter. */
  private static final Map<Long, Tensor> OPEN = new ConcurrentHashMap<>();

  private static final ThreadLocal<Boolean> IS_GIVING = ThreadLocal.withInitial(() -> false);

  private GradientRooms() {}

  /**
   * Lets whoever makes a parameter's gradient write over what lies at its place.
   *
   * @param parameter its address
   * @param room of the shape and dtype of the parameter; stays the caller's
   */
  public static void open(long parameter, Tensor room) {
    OPEN.put(parameter, room);
  }

  /** Lets nobody write there any more; tells whether somebody has. */
  public static boolean close(long parameter) {
    return OPEN.remove(parameter) == null;
  }

  /** Runs the backward of a function that hands its gradients to parameters itself. */
  static List<Tensor> whileGiving(Supplier<List<Tensor>> backward) {
    IS_GIVING.set(true);
    try {
      return backward.get();
    } finally {
      IS_GIVING.remove();
    }
  }

  /**
   * Takes the place of a parameter's gradient, in the current scope: what is written there is the
   * gradient, and is to be returned as such.
   */
  public static Optional<Tensor> take(Tensor parameter) {
    if (!IS_GIVING.get() || OPEN.isEmpty()) {
      return Optional.empty();
    }
    return Optional.ofNullable(OPEN.remove(addressOf(parameter))).map(Tensor::new);
  }

  /** Returns the address by which a tensor is known here. */
  public static long addressOf(Tensor tensor) {
    try (var _ = TensorScope.open()) {
      return tensor.data_ptr().address();
    }
  }
}
