package dev.flotilla.strategy.powersgd;

import dev.flotilla.settings.Check;
import dev.flotilla.settings.Setting;
import dev.flotilla.step.Claim;
import dev.flotilla.step.Phase;
import dev.flotilla.step.StepContext;
import dev.flotilla.step.Workers;
import dev.flotilla.strategy.PlanFacts;
import dev.flotilla.strategy.PlanIssue;
import dev.flotilla.strategy.Property;
import dev.flotilla.strategy.Strategy;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Sends the gradient of a matrix as two factors of low rank and keeps the rest for later (Vogels,
 * Karimireddy, Jaggi, 2019, "PowerSGD: Practical Low-Rank Gradient Compression for Distributed
 * Optimization").
 *
 * <p>A parameter of shape n × … is a matrix of n rows and m columns. On rank i of N, with g the
 * gradient of its loss sum over the count of all ranks, so that the sum over ranks is the mean, e
 * what the rank keeps, and Q an orthonormal matrix of m rows and r columns:
 *
 * <pre>
 * Mᵢ = g + eᵢ
 * P = Σᵢ Mᵢ Q                      the first all-reduce
 * P̂ = orthonormal columns of P     by Householder reflections
 * S = Σᵢ Mᵢᵀ P̂                     the second all-reduce
 * the gradient is P̂ Sᵀ;  eᵢ ← Mᵢ − P̂ Sᵀ / N
 * Q ← orthonormal columns of S
 * </pre>
 *
 * <p>What ranks keep and what they send is what they had: Σ eᵢ + P̂ Sᵀ = Σ Mᵢ. The optimizer is the
 * ordinary one. Other parameters are summed densely, in the first all-reduce of their bucket.
 *
 * @param rank r; no more than n and m where those are smaller
 * @param minCompression a matrix is sent as factors if n m is at least so many times r (n + m)
 * @param warmStart whether Q is taken from the update before, and not drawn anew
 * @param startStep updates before compression begins
 */
public record PowerSgd(
    @Setting(doc = "rank of the factors that are sent for a matrix, >= 1", def = "2") int rank,
    @Setting(
            doc = "send factors only where they are at least this many times smaller, >= 0",
            def = "2")
        double minCompression,
    @Setting(
            doc = "start from the factor of the update before, not from a random one",
            def = "true")
        boolean warmStart,
    @Setting(doc = "dense updates before compression begins, >= 0", def = "0") long startStep)
    implements Strategy {

  /** Checks the settings. */
  public PowerSgd {
    Check.that(rank >= 1, "rank", "must be at least 1", rank)
        .and(
            minCompression >= 0 && Double.isFinite(minCompression),
            "min_compression",
            "must be at least 0",
            minCompression)
        .and(startStep >= 0, "start_step", "must be at least 0", startStep)
        .orThrow();
  }

  /** Compresses from the first update on, where that halves what is sent at least. */
  public PowerSgd(int rank) {
    this(rank, 2, true, 0);
  }

  /** Returns the same settings for matrices that gain more, or less. */
  public PowerSgd minCompression(double times) {
    return new PowerSgd(rank, times, warmStart, startStep);
  }

  /** Returns the same settings after a dense phase. */
  public PowerSgd startStep(long updates) {
    return new PowerSgd(rank, minCompression, warmStart, updates);
  }

  @Override
  public String key() {
    return "powersgd";
  }

  @Override
  public List<Claim> claims() {
    String sent = "factors of rank %d, and dense what is no matrix".formatted(rank);
    return List.of(
        new Claim(
            Phase.EXCHANGE,
            startStep == 0
                ? sent
                : "dense mean until update %d, then %s".formatted(startStep, sent)));
  }

  @Override
  public Workers workers(StepContext context) {
    var gradients = context.arena().gradients();
    return new Workers()
        .exchange(new LowRankExchange(this, gradients, context.collective(), context.notices()));
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

  @Override
  public List<PlanIssue> issues(PlanFacts facts) {
    if (facts.ranks() == 1) {
      return List.of(
          PlanIssue.warning(
              "powersgd has no effect on one rank, which exchanges nothing",
              "start more ranks, or remove it"));
    }
    var cost = FactorCost.of(facts.layout(), this, facts.ranks());
    if (cost.matrices() == 0) {
      return List.of(
          PlanIssue.warning(
              "powersgd compresses nothing: no matrix is %s times as large as factors of rank %d"
                  .formatted(minCompression, rank),
              "lower rank or min_compression, or remove powersgd"));
    } else if (!cost.pays()) {
      return List.of(
          PlanIssue.warning(
              "powersgd cannot pay: " + cost, "lower rank, or raise min_compression"));
    }
    return List.of();
  }
}
