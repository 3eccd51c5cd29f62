package dev.flotilla.strategy.compress;

import dev.flotilla.memory.Precision;
import dev.flotilla.optim.Momentum;
import dev.flotilla.optim.Sgd;
import dev.flotilla.settings.Check;
import dev.flotilla.settings.Remedy;
import dev.flotilla.settings.Setting;
import dev.flotilla.step.Claim;
import dev.flotilla.step.Phase;
import dev.flotilla.step.StepContext;
import dev.flotilla.step.Workers;
import dev.flotilla.strategy.PlanFacts;
import dev.flotilla.strategy.PlanIssue;
import dev.flotilla.strategy.Property;
import dev.flotilla.strategy.Strategy;
import dev.flotilla.wire.Dtype;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/**
 * Sends only the largest entries of the gradient and keeps the rest for later (Lin et al., 2018,
 * "Deep Gradient Compression: Reducing the Communication Bandwidth for Distributed Training").
 *
 * <p>On rank r of N, with g the gradient of its loss sum over the count of all ranks, η the
 * learning rate, m the momentum and λ the decay:
 *
 * <pre>
 * g ← g · min(1, c N^-½ / ‖g‖)          where the gradient is clipped to norm c
 * h = g + (λ / N) w
 * u ← m u + h;  v ← v + u               or with Nesterov v ← v + h + m u
 * K = the k largest |v| of each bucket, k = ⌊n (1 − s)⌋
 * send v on K;  v ← 0, u ← 0 on K
 * w ← w − η Σᵣ sent
 * </pre>
 *
 * <p>Before update T₀ the exchange is dense and u is the ordinary velocity; at T₀ each rank goes on
 * with u / N. Parameters of fewer than {@code min_numel} elements are always exchanged densely.
 *
 * @param rampupBeginStep T₀, updates before compression begins
 * @param rampupStep updates over which the list of sparsities is walked
 * @param sparsity fractions of each bucket that are not sent, one after the other
 * @param minNumel elements from which on a parameter is compressed
 * @param selection how the entries are found
 * @param values how values are encoded
 * @param indices how indices are encoded
 */
public record Dgc(
    @Setting(doc = "dense updates before compression begins, >= 0") long rampupBeginStep,
    @Setting(doc = "updates over which the list of sparsities is gone through, >= 1")
        long rampupStep,
    @Setting(
            doc =
                "fractions of the gradient that are not sent, each in [0, 1), one after the other")
        List<Double> sparsity,
    @Setting(doc = "parameters with fewer elements than this are sent densely") long minNumel,
    @Setting(
            doc =
                "how entries are found: sampled, by a threshold from a sample, or exact, always the"
                    + " largest")
        Selection selection,
    @Setting(
            doc = "format of the values sent: fp32, or fp16 with the rounding kept for later",
            words = {"fp32", "fp16"})
        Dtype values,
    @Setting(doc = "format of the indices sent: int32, or packed into about 12 bits each")
        IndexFormat indices)
    implements Strategy {

  /** Checks the settings. */
  public Dgc {
    boolean areFractions = sparsity.stream().allMatch(s -> s >= 0 && s < 1);
    Check.that(rampupBeginStep >= 0, "rampup_begin_step", "must be at least 0", rampupBeginStep)
        .and(rampupStep >= 1, "rampup_step", "must be at least 1", rampupStep)
        .and(!sparsity.isEmpty(), "sparsity", "must name at least one fraction", sparsity)
        .and(
            areFractions,
            "sparsity",
            "must be fractions in [0, 1), such as 0.999 to send a thousandth",
            sparsity)
        .and(minNumel >= 1, "min_numel", "must be at least 1", minNumel)
        .and(
            values == Dtype.FP32 || values == Dtype.FP16,
            "values",
            "must be fp32 or fp16",
            values.word())
        .orThrow();
    sparsity = List.copyOf(sparsity);
  }

  /** Compresses from the first update on, as far as is usual: a thousandth is sent. */
  public Dgc() {
    this(0, 1, List.of(0.999));
  }

  /** Compresses after a dense phase, along a list of sparsities. */
  public Dgc(long rampupBeginStep, long rampupStep, List<Double> sparsity) {
    this(
        rampupBeginStep,
        rampupStep,
        sparsity,
        16384,
        Selection.SAMPLED,
        Dtype.FP32,
        IndexFormat.INT32);
  }

  /** Returns the same settings for parameters of other sizes. */
  public Dgc minNumel(long elements) {
    return new Dgc(rampupBeginStep, rampupStep, sparsity, elements, selection, values, indices);
  }

  /** Returns the same settings with another form of messages. */
  public Dgc sending(Dtype otherValues, IndexFormat otherIndices) {
    return new Dgc(
        rampupBeginStep, rampupStep, sparsity, minNumel, selection, otherValues, otherIndices);
  }

  /** Returns the same settings with another way to find the entries. */
  public Dgc selecting(Selection other) {
    return new Dgc(rampupBeginStep, rampupStep, sparsity, minNumel, other, values, indices);
  }

  Ramp ramp() {
    return new Ramp(rampupBeginStep, rampupStep, sparsity);
  }

  WireFormat format(int elements, double fraction) {
    return new WireFormat(indices, values, Ramp.kept(elements, fraction), elements);
  }

  @Override
  public String key() {
    return "dgc";
  }

  @Override
  public List<Claim> claims() {
    return List.of(
        new Claim(Phase.EXCHANGE, description()),
        new Claim(
            Phase.UPDATE,
            "the optimizer on the reduced gradient; momentum inside the compression"));
  }

  @Override
  public Workers workers(StepContext context) {
    return workers(context, true);
  }

  /** Tests switch the masking off, to compare with plain momentum. */
  Workers workers(StepContext context, boolean masksMomentum) {
    var compression = new Compression(this, context, masksMomentum);
    return new Workers()
        .exchange(new SparseExchange(compression))
        .update(new CompressedUpdate(compression));
  }

  @Override
  public Set<Property> properties() {
    return Set.of(Property.KEEPS_RESIDUALS);
  }

  @Override
  public Map<Property, String> contradicts() {
    return Map.of(
        Property.LETS_RANKS_DIFFER, "there are no gradients on the wire that it could compress");
  }

  private String description() {
    String sent = "the largest entries of each bucket (sparsity %s)".formatted(sparsity);
    return rampupBeginStep == 0
        ? sent
        : "dense mean until update %d, then %s".formatted(rampupBeginStep, sent);
  }

  @Override
  public List<PlanIssue> issues(PlanFacts facts) {
    List<PlanIssue> issues = new ArrayList<>();
    refuse(facts, issues);
    if (facts.ranks() == 1) {
      issues.add(
          PlanIssue.warning(
              "dgc has no effect on one rank, which exchanges nothing: it trains with the plain"
                  + " optimizer",
              "start more ranks, or remove it"));
    } else {
      warn(facts, issues);
    }
    return issues;
  }

  private static void refuse(PlanFacts facts, List<PlanIssue> issues) {
    var optimizer = facts.optimizer();
    if (!(optimizer instanceof Momentum || optimizer instanceof Sgd)) {
      issues.add(
          PlanIssue.error(
              "dgc keeps the momentum inside its residuals, but %s keeps moments of its own, which"
                      .formatted(optimizer.getClass().getSimpleName())
                  + " would weigh a gradient that arrives late by steps it was not part of",
              "use optimizer: momentum or sgd, or send less with " + Remedy.ACCUMULATION.named()));
    }
    if (facts.groups().haveRates()) {
      issues.add(
          PlanIssue.error(
              "dgc moves all parameters by one learning rate, but groups or layer_decay give some"
                  + " their own",
              "leave them out but for weight_decay, or send less with "
                  + Remedy.ACCUMULATION.named()));
    }
    if (facts.layout().precision() == Precision.FLOAT64) {
      issues.add(
          PlanIssue.error("dgc sends float32, but precision is float64", "remove one of them"));
    }
  }

  private void warn(PlanFacts facts, List<PlanIssue> issues) {
    if (!isAscending()) {
      issues.add(
          PlanIssue.warning(
              "dgc.sparsity falls in " + sparsity + ", so that more is sent later than before",
              "list sparsities in rising order"));
    }
    var cost = LinkCost.of(facts.layout(), this, ramp().last(), facts.ranks());
    if (cost.compressedBytes() == 0) {
      issues.add(
          PlanIssue.warning(
              "dgc compresses nothing: no parameter has min_numel %d elements".formatted(minNumel),
              "lower min_numel, or remove dgc"));
    } else if (!cost.pays()) {
      issues.add(
          PlanIssue.warning(
              "dgc cannot pay: " + cost, "use fewer ranks, a higher sparsity, or no compression"));
    }
    double first = ramp().least();
    var warmUp = LinkCost.of(facts.layout(), this, first, facts.ranks());
    if (cost.compressedBytes() > 0 && cost.pays() && !warmUp.pays()) {
      issues.add(
          PlanIssue.warning(
              String.format(
                  Locale.ROOT, "at sparsity %s dgc sends more than it saves: %s", first, warmUp),
              "begin the list with a higher sparsity, or rampup_begin_step later"));
    }
  }

  private boolean isAscending() {
    for (int i = 1; i < sparsity.size(); i++) {
      if (sparsity.get(i) < sparsity.get(i - 1)) {
        return false;
      }
    }
    return true;
  }
}
