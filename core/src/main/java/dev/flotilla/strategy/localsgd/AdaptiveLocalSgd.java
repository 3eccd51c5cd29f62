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

/**
 * Local SGD whose interval follows the loss and the learning rate (AdaComm: Wang and Joshi, 2019).
 *
 * <p>With F₀ and η₀ the loss and rate where the first {@code begin_step} updates end: k = ⌈√(k₀ ·
 * η₀ F / (η F₀))⌉ by Fleet's rule, or ⌈k₀ √(η₀ F / (η F₀))⌉ by the paper's; never below 1 or above
 * {@code max_k_steps}. A value that is not finite or not positive keeps the interval. F is reduced
 * over ranks, so that all of them compute the same number.
 *
 * @param initKSteps the interval k₀ at the start
 * @param beginStep updates at the start that are averaged one by one
 * @param maxKSteps the largest interval
 * @param rule how the next interval is computed
 * @param shrink adacomm: the fraction of the interval that is left where it would not get smaller
 * @param adaptEvery updates between two looks at the interval, at least; 1 for every average
 * @param momentum what becomes of the optimizer's memory
 * @param wire the type of numbers that travel
 * @param overlap whether an average travels behind the next round's updates and comes a round late
 * @param group who has parameters of its own
 */
@Remedy.Offer(value = Remedy.SAME_ON_HOST, as = "%s: {group: host}")
public record AdaptiveLocalSgd(
    @Setting(doc = "updates between two averages at first, from 1 to max_k_steps", def = "1")
        int initKSteps,
    @Setting(doc = "updates at the start that are averaged one by one", def = "1") int beginStep,
    @Setting(doc = "most updates between two averages, at least 1", def = "16") int maxKSteps,
    @Setting(
            doc =
                "how the interval follows the loss: fleet for Fleet's formula, adacomm for the"
                    + " paper's",
            def = "fleet")
        IntervalRule rule,
    @Setting(
            doc =
                "with adacomm: factor on an interval that the formula would not shorten, in (0, 1)",
            def = "0.5")
        double shrink,
    @Setting(doc = "updates after which the interval is computed anew, at least 1", def = "1")
        int adaptEvery,
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
        AveragingGroup group)
    implements Strategy {

  private static final String KEY = "adaptive_localsgd";

  /** Checks the settings. */
  public AdaptiveLocalSgd {
    Check.that(maxKSteps >= 1, "max_k_steps", "must be at least 1", maxKSteps)
        .and(
            initKSteps >= 1 && initKSteps <= maxKSteps,
            "init_k_steps",
            "must be from 1 to max_k_steps " + maxKSteps,
            initKSteps)
        .and(beginStep >= 0, "begin_step", "must be at least 0", beginStep)
        .and(shrink > 0 && shrink < 1, "shrink", "must be in (0, 1)", shrink)
        .and(adaptEvery >= 1, "adapt_every", "must be at least 1", adaptEvery)
        .orThrow();
  }

  /** Starts with an interval and lets a rule change it. */
  public AdaptiveLocalSgd(int initKSteps, IntervalRule rule) {
    this(
        initKSteps,
        1,
        16,
        rule,
        0.5,
        1,
        MomentumPolicy.LOCAL,
        Dtype.FP32,
        false,
        AveragingGroup.RANK);
  }

  private Averaging averaging() {
    return new Averaging(KEY, beginStep, momentum, wire, overlap, group, null);
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
    var text = "every %d to %d updates".formatted(1, maxKSteps);
    return LocalClaims.of(averaging(), text);
  }

  @Override
  public Optional<Collective> peers(Collective all, int host, Consumer<String> notices) {
    return Optional.of(Levels.peers(group, all, host, notices));
  }

  @Override
  public Workers workers(StepContext context) {
    return LocalClaims.workers(averaging(), new AdaptiveInterval(this), context);
  }

  @Override
  public List<PlanIssue> issues(PlanFacts facts) {
    return averaging().issues(facts);
  }
}
