package dev.flotilla.strategy.localsgd;

import dev.flotilla.memory.TensorScope;
import java.util.ArrayList;
import java.util.List;
import org.bytedeco.pytorch.Tensor;

/** Puts the average of all ranks in place of this rank's parameters, and then these back. */
final class AverageInPlace implements Runnable, AutoCloseable {

  private final List<Tensor> live;
  private final Runnable average;
  private final List<Tensor> own = new ArrayList<>();
  private boolean isInPlace;

  /**
   * Changes nothing yet.
   *
   * @param live the parameters
   * @param average averages them
   */
  AverageInPlace(List<Tensor> live, Runnable average) {
    this.live = live;
    this.average = average;
  }

  @Override
  public void run() {
    if (isInPlace) {
      for (int i = 0; i < live.size(); i++) {
        live.get(i).copy_(own.get(i));
      }
    } else {
      try (var _ = TensorScope.open()) {
        live.forEach(values -> own.add(TensorScope.keep(values.clone())));
      }
      average.run();
    }
    isInPlace = !isInPlace;
  }

  @Override
  public void close() {
    own.forEach(TensorScope::free);
  }
}
