package dev.flotilla.strategy.localsgd;

import dev.flotilla.arena.Totals;
import dev.flotilla.state.RunState;

/**
 * Follows the loss and the learning rate.
 *
 * <p>Fleet's rule looks at the last accumulation window before an average, as Fleet does; the
 * paper's at the mean over the whole round, because it never lets the interval grow back after an
 * unlucky batch.
 */
final class AdaptiveInterval implements Interval {

  private final AdaptiveLocalSgd settings;
  private int updates;
  private long adaptedAt;
  private double firstLoss = Double.NaN;
  private double firstLr = Double.NaN;

  AdaptiveInterval(AdaptiveLocalSgd settings) {
    this.settings = settings;
    this.updates = settings.initKSteps();
  }

  @Override
  public int updates() {
    return updates;
  }

  @Override
  public boolean looksAtLastWindow() {
    return settings.rule() == IntervalRule.FLEET;
  }

  @Override
  public void adapt(Totals totals, double lr, long update) {
    double loss = totals.meanLoss();
    if (update < settings.beginStep()) {
      return;
    }
    if (Double.isNaN(firstLoss)) {
      rememberStart(loss, lr, update);
    } else if (update - adaptedAt >= settings.adaptEvery()) {
      adaptedAt = update;
      updates = next(updates, firstLr * loss / (lr * firstLoss));
    }
  }

  private void rememberStart(double loss, double lr, long update) {
    if (isUsable(loss) && isUsable(lr)) {
      firstLoss = loss;
      firstLr = lr;
      adaptedAt = update;
    }
  }

  /** Returns the interval that follows, given η₀ F / (η F₀). */
  int next(int present, double ratio) {
    if (!isUsable(ratio)) {
      return present;
    }
    return switch (settings.rule()) {
      case FLEET -> limited(Math.sqrt(ratio * settings.initKSteps()));
      case ADACOMM -> {
        int wanted = limited(Math.sqrt(ratio) * settings.initKSteps());
        yield wanted < present ? wanted : limited(present * settings.shrink());
      }
    };
  }

  private int limited(double wanted) {
    return (int) Math.max(1, Math.min(settings.maxKSteps(), Math.ceil(wanted)));
  }

  private static boolean isUsable(double value) {
    return Double.isFinite(value) && value > 0;
  }

  @Override
  public void remember(RunState state) {
    var shared = state.shared().part("localsgd/interval");
    updates = Math.toIntExact(shared.number("updates", updates));
    adaptedAt = shared.number("adapted_at", adaptedAt);
    firstLoss = shared.real("first_loss", firstLoss);
    firstLr = shared.real("first_lr", firstLr);
  }
}
