package dev.flotilla.strategy.localsgd;

import dev.flotilla.step.Claim;
import dev.flotilla.step.Phase;
import dev.flotilla.step.StepContext;
import dev.flotilla.step.Workers;
import java.util.List;

/** The claims and workers that fixed and adaptive intervals share: no exchange, and a sync. */
final class LocalClaims {

  private LocalClaims() {}

  static List<Claim> of(Averaging averaging, String intervalText) {
    return List.of(
        new Claim(Phase.EXCHANGE, averaging.exchangeText()),
        new Claim(Phase.SYNC, averaging.syncText(intervalText)));
  }

  static Workers workers(Averaging averaging, Interval interval, StepContext context) {
    var levels = Levels.join(averaging.group(), context);
    return new Workers()
        .exchange(new InsideExchange(levels.inside()), levels.inside())
        .sync(new LocalAveraging(averaging, interval, levels, context));
  }
}
