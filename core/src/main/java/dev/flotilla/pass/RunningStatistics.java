package dev.flotilla.pass;

import dev.flotilla.arena.BufferArena;
import dev.flotilla.arena.BufferCopy;
import dev.flotilla.collective.Collective;
import dev.flotilla.collective.Reduction;
import dev.flotilla.collective.Traffic;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.memory.Tensors;
import dev.flotilla.state.RunState;
import dev.flotilla.state.State;
import dev.flotilla.state.Stateful;
import org.bytedeco.pytorch.Scalar;
import org.bytedeco.pytorch.Tensor;

/**
 * Averages BatchNorm's running statistics over ranks, each weighted by the samples it has seen.
 *
 * <p>s ← Σᵣ nᵣ sᵣ / Σᵣ nᵣ. Evaluation and saving use the average in place of the rank's own values
 * and put those back, so that neither changes the training.
 *
 * <p>They move in forward, before anybody knows whether the accumulation window's gradients are fit
 * for an update. A window that ends without one leaves them as they were before it.
 */
public final class RunningStatistics implements Stateful, AutoCloseable {

  private final BufferArena buffers;
  private final Collective collective;
  private final BufferCopy before;
  private long samples;
  private long samplesBefore;
  private long lastSamples;
  private boolean isInWindow;

  /** Creates the average of a model's buffers. */
  public RunningStatistics(BufferArena buffers, Collective collective) {
    this.buffers = buffers;
    this.collective = collective;
    this.before = buffers.copy();
  }

  /** Notes what a window begins with. */
  public void beginWindow() {
    before.take();
    samplesBefore = samples;
    isInWindow = true;
  }

  /** Counts samples this rank has trained on. */
  public void saw(int more) {
    samples += more;
  }

  /** Ends a window; without an update it has moved nothing. */
  public void endWindow(boolean isUpdated) {
    if (isInWindow && !isUpdated) {
      before.putBack();
      samples = samplesBefore;
    }
    isInWindow = false;
  }

  /**
   * Ends a window whose update is left out if a number on the device is not zero, without waiting
   * for it: {@link #leaveOut} follows then.
   */
  public void endWindowUnless(Tensor found) {
    if (isInWindow) {
      before.putBackIf(found);
    }
    lastSamples = isInWindow ? samples - samplesBefore : 0;
    isInWindow = false;
  }

  /** Hears that the update was left out, perhaps after the next window has begun. */
  public void leaveOut() {
    samples -= lastSamples;
    samplesBefore -= lastSamples;
    lastSamples = 0;
  }

  /** Runs an action with the average in place; all ranks call it together. */
  public <T> T whileAveraged(java.util.function.Supplier<T> action) {
    if (!isNeeded()) {
      return action.get();
    }
    try (var _ = TensorScope.open()) {
      Tensor own = buffers.statistics().clone();
      average();
      T result = action.get();
      buffers.statistics().copy_(own);
      return result;
    }
  }

  /** Replaces every rank's statistics by the average; all ranks call it together. */
  public void average() {
    if (!isNeeded()) {
      return;
    }
    try (var _ = TensorScope.open()) {
      var count = Tensors.ofDoubles((double) samples);
      collective.allReduce(count, Reduction.SUM, Traffic.SCALAR).await();
      double all = count.item_double();
      // Before the first step nobody has seen a sample, and all ranks hold the same values.
      double weight = all == 0 ? 1.0 / collective.size() : samples / all;
      buffers.statistics().mul_(new Scalar(weight));
      collective.allReduce(buffers.statistics(), Reduction.SUM, Traffic.SCALAR).await();
    }
  }

  @Override
  public void remember(RunState state) {
    var shared = state.shared().part("statistics");
    isInWindow = shared.has("in_window") && shared.number("in_window", isInWindow ? 1 : 0) == 1;
    if (isInWindow) {
      rememberBefore(state);
    }
    remember(state, "statistics", state.weights());
  }

  /** Puts down, or takes up, what the window began with, by way of the buffers. */
  private void rememberBefore(RunState state) {
    try (var now = buffers.copy()) {
      long samplesNow = samples;
      before.putBack();
      samples = samplesBefore;
      var part = "statistics/before";
      remember(state, part, state.shared().part(part));
      before.take();
      samplesBefore = samples;
      now.putBack();
      samples = samplesNow;
    }
  }

  /**
   * Statistics are published as the average over ranks, other buffers as those of rank 0; each
   * rank's own values come on top.
   */
  private void remember(RunState state, String part, State published) {
    samples = state.summed().part(part).number("samples", samples);
    if (state.isSaving()) {
      rememberOwn(state.own().part(part));
      publish(published);
    } else {
      buffers.buffers().forEach(published::tensor);
      rememberOwn(state.own().part(part));
    }
  }

  /** Puts down all buffers, statistics as their average over ranks; all ranks call it together. */
  public void publish(State state) {
    whileAveraged(
        () -> {
          buffers.buffers().forEach(state::tensor);
          return samples;
        });
  }

  private void rememberOwn(State own) {
    if (isNeeded()) {
      own.tensor("running", buffers.statistics());
    }
    if (collective.size() > 1) {
      buffers.others().forEach(own.part("buffers")::tensor);
    }
  }

  private boolean isNeeded() {
    return collective.size() > 1 && buffers.hasStatistics();
  }

  @Override
  public void close() {
    before.close();
  }
}
