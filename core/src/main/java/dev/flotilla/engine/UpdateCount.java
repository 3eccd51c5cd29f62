package dev.flotilla.engine;

import dev.flotilla.engine.Accumulation.Decision;
import java.util.OptionalLong;

/** Counts the updates of epochs before they are run, starting with an empty window. */
public final class UpdateCount {

  private final Accumulation accumulation;
  private final long microStepsPerEpoch;
  private long updates;
  private int inWindow;

  UpdateCount(Accumulation accumulation, long microStepsPerEpoch) {
    this.accumulation = accumulation;
    this.microStepsPerEpoch = microStepsPerEpoch;
  }

  /** Returns the number of updates of so many epochs. */
  public long in(long epochs) {
    restart();
    for (long epoch = 0; epoch < epochs; epoch++) {
      addEpoch();
    }
    return updates;
  }

  /** Returns the number of epochs that make at least so many updates; empty if none ever do. */
  public OptionalLong epochsFor(long wanted) {
    restart();
    long epochs = 0;
    while (updates < wanted) {
      long before = updates;
      addEpoch();
      epochs++;
      if (updates == before && inWindow == 0) {
        return OptionalLong.empty();
      }
    }
    return OptionalLong.of(epochs);
  }

  private void restart() {
    updates = 0;
    inWindow = 0;
  }

  private void addEpoch() {
    for (long i = 1; i <= microStepsPerEpoch; i++) {
      var decision = accumulation.after(++inWindow, i == microStepsPerEpoch, updates);
      updates += decision == Decision.UPDATE ? 1 : 0;
      inWindow = decision == Decision.CONTINUE ? inWindow : 0;
    }
  }
}
