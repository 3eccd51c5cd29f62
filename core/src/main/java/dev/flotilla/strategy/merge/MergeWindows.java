package dev.flotilla.strategy.merge;

import dev.flotilla.pass.Accumulation;
import java.util.function.Consumer;

/** Ends an accumulation window after k micro-steps, or with the epoch as the tail policy says. */
final class MergeWindows implements Accumulation {

  private final GradientMerge settings;
  private final WindowLength length;
  private final Consumer<String> notices;

  MergeWindows(GradientMerge settings, WindowLength length, Consumer<String> notices) {
    this.settings = settings;
    this.length = length;
    this.notices = notices;
  }

  @Override
  public Decision after(int microSteps, boolean lastOfEpoch, long updates) {
    if (microSteps >= length.after(updates)) {
      return Decision.UPDATE;
    }
    if (!lastOfEpoch) {
      return Decision.CONTINUE;
    }
    return switch (settings.tail()) {
      case FLUSH -> Decision.UPDATE;
      case CARRY -> Decision.CONTINUE;
      case DROP -> Decision.DISCARD;
    };
  }

  @Override
  public int microSteps(long updates) {
    return length.after(updates);
  }

  @Override
  public long settledAfter() {
    return length.byUpdate().lastKey();
  }

  @Override
  public double factor(int microSteps) {
    return settings.avg() ? 1 : microSteps;
  }

  @Override
  public void epochEndedInside(int microSteps, long updates) {
    int window = length.after(updates);
    notices.accept(
        "the epoch ended after %d of the %d micro-steps of an accumulation window: %s"
            .formatted(microSteps, window, consequence(microSteps)));
  }

  private String consequence(int microSteps) {
    return switch (settings.tail()) {
      case FLUSH -> "updated with the " + microSteps;
      case CARRY -> "they go on in the next epoch, or are lost at the end of the run";
      case DROP -> "dropped";
    };
  }
}
