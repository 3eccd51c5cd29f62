package dev.flotilla.step;

import dev.flotilla.state.Stateful;
import org.bytedeco.pytorch.Tensor;

/** Changes the parameters from the gradients of a window. */
public interface Update extends Stateful, AutoCloseable {

  /** Makes one update. */
  void apply(double lr);

  /** Tells whether it can leave an update out by what a number on the device says. */
  default boolean skipsOnDevice() {
    return false;
  }

  /**
   * Makes one update, or none if a float32 number on the device is 1 and not 0; does not wait for
   * it.
   */
  default void applyUnless(Tensor found, double lr) {
    throw new UnsupportedOperationException("this update does not skip on the device");
  }

  @Override
  void close();
}
