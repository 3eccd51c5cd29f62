package dev.flotilla.strategy.localsgd;

import dev.flotilla.step.Claim;
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
            context ->
                new LocalAveraging(averaging, interval.get(), levels.join(context), context)));
  }
}
