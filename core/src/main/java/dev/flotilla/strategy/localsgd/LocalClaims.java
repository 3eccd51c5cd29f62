package dev.flotilla.strategy.localsgd;

import dev.flotilla.step.Claim;
import dev.flotilla.step.Claim.ExchangePart;
import dev.flotilla.step.Claim.SyncPart;
import dev.flotilla.step.Phase;
import dev.flotilla.step.StepContext;
import dev.flotilla.step.Workers;
import java.util.List;

/**
 * The claims and workers that fixed and adaptive intervals share: no exchange, or one inside each
 * host, and an average.
 */
final class LocalClaims {

  private LocalClaims() {}

  static List<Claim> of(Averaging averaging, String intervalText) {
    var average = averaging.syncText(intervalText);
    return averaging.isByHost()
        ? List.of(
            new Claim(ExchangePart.RANKS, "inside each host"), new Claim(SyncPart.AVERAGE, average))
        : List.of(
            new Claim(Phase.EXCHANGE, "none: each rank's gradients are its own"),
            new Claim(Phase.SYNC, average));
  }

  static Workers workers(Averaging averaging, Interval interval, StepContext context) {
    var workers =
        new Workers().averaging(inside -> new LocalAveraging(averaging, interval, context, inside));
    return averaging.isByHost()
        ? workers.exchangeAmongPeers()
        : workers.exchange((_, _) -> List.of());
  }
}
