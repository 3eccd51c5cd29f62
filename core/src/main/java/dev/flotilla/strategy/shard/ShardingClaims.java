package dev.flotilla.strategy.shard;

import dev.flotilla.step.Claim;
import dev.flotilla.step.Claim.ExchangePart;
import dev.flotilla.step.Claim.ForwardStage;
import dev.flotilla.step.Claim.SyncPart;
import dev.flotilla.step.Phase;
import java.util.ArrayList;
import java.util.List;

/** The phases that a stage works in, and what a plan says of them. */
final class ShardingClaims {

  private ShardingClaims() {}

  static List<Claim> of(Sharding settings) {
    var inHalves = settings.hasHalves() ? " in " + settings.parameters().word() : "";
    List<Claim> claims = new ArrayList<>();
    if (settings.stage() == 3) {
      claims.add(
          new Claim(
              ForwardStage.GATHER,
              "gather a segment's parameters%s before it runs, then free".formatted(inHalves)));
    }
    claims.add(
        new Claim(
            ExchangePart.SUMS,
            settings.keepsSlices()
                ? "reduce-scatter%s after every micro-step: each rank keeps the sums of its slices"
                    .formatted(inHalves)
                : "reduce-scatter%s: each rank gets the sums of its slices".formatted(inHalves)));
    claims.add(
        new Claim(
            Phase.UPDATE,
            "optimizer on this rank's %sslices".formatted(settings.hasHalves() ? "float32 " : "")));
    claims.add(
        new Claim(
            SyncPart.GATHER,
            settings.stage() == 3
                ? "free what was gathered"
                : "all-gather of parameters%s, while the next forward begins".formatted(inHalves)));
    return claims;
  }
}
