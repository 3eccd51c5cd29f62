package dev.flotilla.verify;

import dev.flotilla.step.Claim;
import dev.flotilla.step.Claim.GradientStage;
import dev.flotilla.step.Phase;
import dev.flotilla.step.StepContext;
import dev.flotilla.step.Workers;
import dev.flotilla.strategy.Strategy;
import java.util.List;

/**
 * A technique that copies an accumulation window's gradient after exchange and division, before it
 * is clipped.
 */
final class GradientCopy implements Strategy {

  private double[] last = {};

  @Override
  public String key() {
    return "verify";
  }

  @Override
  public List<Claim> claims() {
    return List.of(new Claim(Phase.REFINE, GradientStage.VOTE, "copy the gradient"));
  }

  @Override
  public Workers workers(StepContext context) {
    var gradients = context.arena().gradients();
    return new Workers()
        .refine(
            GradientStage.VOTE,
            (_, _) -> {
              last = FlatCopy.of(gradients.values());
              return true;
            });
  }

  double[] last() {
    return last;
  }
}
