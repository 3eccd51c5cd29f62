package dev.flotilla.strategy.ema;

import dev.flotilla.settings.Check;
import dev.flotilla.settings.Setting;
import dev.flotilla.step.Claim;
import dev.flotilla.step.Phase;
import dev.flotilla.step.StepContext;
import dev.flotilla.step.Workers;
import dev.flotilla.strategy.PlanFacts;
import dev.flotilla.strategy.PlanIssue;
import dev.flotilla.strategy.Strategy;
import java.util.List;
import java.util.Locale;

/**
 * Keeps an exponential moving average of the weights (Polyak and Juditsky, 1992), which is
 * evaluated and saved beside them and changes nothing in the training.
 *
 * <p>With w the weights after an update that is averaged, and n = 0, 1, 2, … counting those:
 *
 * <p>e₀ = w, eₙ = dₙ eₙ₋₁ + (1 − dₙ) w; dₙ is {@code decay} or, with {@code warmup}, min(decay, 1 −
 * (1 + n)^(−2/3)), as timm's ModelEmaV3 has it. It is computed as w + dₙ (eₙ₋₁ − w), three
 * operations that each round once, so that bits depend neither on slices nor on the device.
 *
 * <p>An update is one of an accumulation window; a window that is skipped averages nothing. Where
 * ranks update on their own, each averages its own weights: e is linear in w, so that the mean of
 * the ranks' averages is the average of the ranks' mean. Where ranks keep slices, they average
 * those.
 *
 * @param decay d, how much of the average stays
 * @param every updates from one averaging to the next
 * @param start updates made before the first averaging; until then e is w
 * @param warmup whether d rises from 0 to decay
 * @param useBuffers whether running statistics are averaged too, or those of the model are used
 */
public record Ema(
    @Setting(
            doc = "fraction of the average that is kept at each averaging, above 0 and below 1",
            def = "0.999")
        double decay,
    @Setting(doc = "updates from one averaging to the next, at least 1", def = "1") long every,
    @Setting(doc = "updates made before the first averaging", def = "0") long start,
    @Setting(doc = "let decay rise: at most 1 - (1 + n)^(-2/3) at averaging n", def = "false")
        boolean warmup,
    @Setting(
            doc = "average BatchNorm's running statistics too; false takes the model's",
            def = "true")
        boolean useBuffers)
    implements Strategy {

  private static final double WARMUP_POWER = -2.0 / 3;

  /** Checks the settings. */
  public Ema {
    Check.that(decay > 0 && decay < 1, "decay", "must be above 0 and below 1", decay)
        .and(every >= 1, "every", "must be at least 1", every)
        .and(start >= 0, "start", "must be at least 0", start)
        .orThrow();
  }

  /** Averages after every update. */
  public Ema(double decay) {
    this(decay, 1, 0, false, true);
  }

  /** Returns the same with averagings after every so many updates. */
  public Ema each(long updates) {
    return new Ema(decay, updates, start, warmup, useBuffers);
  }

  /** Returns the same that begins after so many updates. */
  public Ema startingAfter(long updates) {
    return new Ema(decay, every, updates, warmup, useBuffers);
  }

  /** Returns the same with a decay that rises. */
  public Ema withWarmup() {
    return new Ema(decay, every, start, true, useBuffers);
  }

  /** Returns the same that leaves running statistics to the model. */
  public Ema withoutBuffers() {
    return new Ema(decay, every, start, warmup, false);
  }

  /** Tells whether an update is averaged. */
  boolean isDueAfter(long updates) {
    return updates > start && updates % every == 0;
  }

  /** Returns the first update that is averaged. */
  long first() {
    return (start / every + 1) * every;
  }

  /** Returns how much of the average stays at averaging n; nothing at the first. */
  double decayAt(long n) {
    if (n == 0) {
      return 0;
    }
    return warmup ? Math.min(decay, 1 - Math.pow(1.0 + n, WARMUP_POWER)) : decay;
  }

  @Override
  public String key() {
    return "ema";
  }

  @Override
  public List<Claim> claims() {
    return List.of(new Claim(Phase.AVERAGE, description()));
  }

  private String description() {
    return String.format(
        Locale.ROOT,
        "moving average of weights, decay %s%s after %s%s",
        decay,
        warmup ? " with warm-up" : "",
        every == 1 ? "every update" : "every %d updates".formatted(every),
        start == 0 ? "" : ", from update %d".formatted(first()));
  }

  @Override
  public Workers workers(StepContext context) {
    return new Workers().average(new WeightAverage(this, context));
  }

  @Override
  public List<PlanIssue> issues(PlanFacts facts) {
    return facts.layout().slots().isEmpty()
        ? List.of(
            PlanIssue.error(
                "ema has nothing to average: no parameter of the model is trained",
                "remove it, or train some"))
        : List.of();
  }
}
