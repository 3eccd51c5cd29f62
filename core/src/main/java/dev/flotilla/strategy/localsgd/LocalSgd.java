package dev.flotilla.strategy.localsgd;

import dev.flotilla.collective.Collective;
import dev.flotilla.settings.Check;
import dev.flotilla.settings.Remedy;
import dev.flotilla.settings.Setting;
import dev.flotilla.step.Claim;
import dev.flotilla.step.StepContext;
import dev.flotilla.step.Workers;
import dev.flotilla.strategy.PlanFacts;
import dev.flotilla.strategy.PlanIssue;
import dev.flotilla.strategy.Property;
import dev.flotilla.strategy.Strategy;
import dev.flotilla.wire.Dtype;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Lets each rank update on its own gradients and averages the parameters every k updates
 * (post-local SGD: Lin et al., 2020).
 *
 * <p>With S the parameters that all ranks held last: w ← S + (1/N) Σᵣ (wᵣ − S), S ← w. The first
 * {@code begin_step} updates are averaged one by one; with momentum SGD that is synchronous
 * training, as velocities are linear in the gradients.
 *
 * <p>Costs a k-th of the dense exchange, and the memory of two copies of the parameters (three with
 * overlap, one more for a Nesterov outer step).
 *
 * @param kSteps updates between two averages
 * @param beginStep updates at the start that are averaged one by one
 * @param momentum what becomes of the optimizer's memory
 * @param wire the type of numbers that travel
 * @param overlap whether an average travels behind the next round's updates and comes a round late
 * @param group who has parameters of its own
 * @param outer the outer optimizer, or null for the plain mean
 */
@Remedy.Offer(value = Remedy.SAME_ON_HOST, as = "%s: {group: host}")
public record LocalSgd(
    @Setting(doc = "updates between two averages, at least 1", def = "1") int kSteps,
    @Setting(doc = "updates at the start that are averaged one by one", def = "1") int beginStep,
    @Setting(
            doc = "what becomes of the optimizer's memory at an average: local, average or reset",
            def = "local")
        MomentumPolicy momentum,
    @Setting(
            doc =
                "number format on the wire: fp32, bf16, fp16, or int8 or int4 with error feedback",
            def = "fp32")
        Dtype wire,
    @Setting(
            doc = "send an average while the next round computes, and use it one round later",
            def = "false")
        boolean overlap,
    @Setting(
            doc = "what updates by itself between averages: each rank, or each host as a whole",
            def = "rank")
        AveragingGroup group,
    @Setting(
            doc =
                "outer optimizer, which takes the change of a round for a gradient; by default"
                    + " none",
            def = "null")
        @Nullable OuterOptimizer outer)
    implements Strategy {

  private static final String KEY = "localsgd";

  /** Checks the settings. */
  public LocalSgd {
    Check.that(kSteps >= 1, "k_steps", "must be at least 1", kSteps)
        .and(beginStep >= 0, "begin_step", "must be at least 0", beginStep)
        .orThrow();
  }

  /** Averages every so many updates from the first on. */
  public LocalSgd(int kSteps) {
    this(kSteps, 1, MomentumPolicy.LOCAL, Dtype.FP32, false, AveragingGroup.RANK, null);
  }

  private Averaging averaging() {
    return new Averaging(KEY, beginStep, momentum, wire, overlap, group, outer);
  }

  @Override
  public String key() {
    return KEY;
  }

  @Override
  public Set<Property> properties() {
    return averaging().properties();
  }

  @Override
  public List<Claim> claims() {
    var text = kSteps == 1 ? "after every update" : "every %d updates".formatted(kSteps);
    return LocalClaims.of(averaging(), text);
  }

  @Override
  public Optional<Collective> peers(Collective all, int host, Consumer<String> notices) {
    return Optional.of(Levels.peers(group, all, host, notices));
  }

  @Override
  public Workers workers(StepContext context) {
    return LocalClaims.workers(averaging(), new FixedInterval(kSteps), context);
  }

  @Override
  public List<PlanIssue> issues(PlanFacts facts) {
    return averaging().issues(facts);
  }
}
