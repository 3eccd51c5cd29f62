package dev.flotilla.strategy.localsgd;

import dev.flotilla.engine.Claim;
import dev.flotilla.engine.StepContext;
import dev.flotilla.engine.Sync;
import java.util.List;
import java.util.function.Supplier;

/** The claims that fixed and adaptive intervals share: no exchange, and a sync. */
final class LocalClaims {

  private LocalClaims() {}

  static List<Claim> of(Averaging averaging, String intervalText, Supplier<Interval> interval) {
    var levels = new Levels(averaging.group());
    return List.of(
        new Claim.Share(
            averaging.exchangeText(), context -> new InsideExchange(levels.join(context).inside())),
        new Claim.Follow(
            averaging.syncText(intervalText),
            context -> sync(averaging, interval.get(), levels.join(context), context)));
  }

  private static Sync sync(
      Averaging averaging, Interval interval, Levels.Joined levels, StepContext context) {
    return levels.replicas() == 1
        ? Sync.NONE
        : new LocalAveraging(averaging, interval, levels, context);
  }
}
