package dev.flotilla.step;

import dev.flotilla.collective.Collective;
import dev.flotilla.data.Batch;
import dev.flotilla.pass.BoundModel;
import dev.flotilla.pass.ForwardBackward;
import dev.flotilla.pass.PooledChain;
import dev.flotilla.pass.SegmentChain;
import dev.flotilla.state.RunState;
import java.util.List;

/** Holds the batches that must go forward together until all of them are there. */
final class PooledWindow {

  private final boolean isOverWindow;
  private final PooledChain pass;
  private final HeldBatches held = new HeldBatches();

  /**
   * Prepares passes over several batches.
   *
   * @param isOverWindow whether they are those of a whole window
   * @param mayKeepGraphs whether nothing says that a forward pass shall keep less
   * @param group the ranks that pool their statistics
   */
  PooledWindow(
      boolean isOverWindow,
      boolean mayKeepGraphs,
      SegmentChain chain,
      BoundModel model,
      Collective group) {
    this.isOverWindow = isOverWindow;
    boolean keepsGraphs = !isOverWindow && mayKeepGraphs;
    pass = new PooledChain(model, chain, group, keepsGraphs);
  }

  ForwardBackward pass() {
    return pass;
  }

  /** Takes a batch, which the caller may free. */
  void add(Batch batch) {
    held.add(batch);
  }

  /** Tells whether batches wait for the end of the window. */
  boolean isOverWindow() {
    return isOverWindow;
  }

  List<Batch> batches() {
    return held.batches();
  }

  void clear() {
    held.clear();
    pass.clear();
  }

  void remember(RunState state) {
    held.remember(state);
  }
}
