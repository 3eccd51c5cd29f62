package dev.flotilla.strategy.compress;

import dev.flotilla.memory.Precision;
import dev.flotilla.optim.Momentum;
import dev.flotilla.optim.Sgd;
import dev.flotilla.settings.Remedy;
import dev.flotilla.step.Claim;
import dev.flotilla.step.Phase;
import dev.flotilla.step.StepContext;
import dev.flotilla.step.Workers;
import dev.flotilla.strategy.PlanFacts;
import dev.flotilla.strategy.PlanIssue;
import dev.flotilla.strategy.Property;
import dev.flotilla.strategy.Strategy;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * Chooses between a dense exchange, one with half the bytes on the wire, and compression, by what
 * the link and the processor turn out to be; and chooses again when they change.
 *
 * <p>The first updates are dense. Then all ranks predict the time of an update in each way, from
 * the same numbers, and take the best. A change must promise a tenth, twice in a row. When
 * compression loses, what ranks have kept is sent densely once, and their velocities are summed.
 *
 * @param dgc how compression works where it is chosen; its ramp begins at the choice
 */
public record AutoExchange(Dgc dgc) implements Strategy {

  /** Chooses, with the usual compression. */
  public AutoExchange() {
    this(new Dgc(0, 100, List.of(0.9375, 0.984375, 0.996, 0.999)));
  }

  @Override
  public String key() {
    return "exchange";
  }

  @Override
  public List<Claim> claims() {
    return List.of(
        new Claim(Phase.EXCHANGE, "dense mean, bf16 on the wire, or dgc, by what is measured"),
        new Claim(
            Phase.UPDATE,
            "the optimizer, with its momentum inside the compression where that is chosen"));
  }

  @Override
  public Workers workers(StepContext context) {
    var compression = new Compression(dgc, context, true);
    return new Workers()
        .exchange(AdaptiveExchange.on(compression, context))
        .update(new CompressedUpdate(compression));
  }

  @Override
  public Set<Property> properties() {
    return dgc.properties();
  }

  @Override
  public List<PlanIssue> issues(PlanFacts facts) {
    List<PlanIssue> issues = new ArrayList<>();
    var optimizer = facts.optimizer();
    if (!(optimizer instanceof Momentum || optimizer instanceof Sgd)) {
      issues.add(
          PlanIssue.error(
              "exchange: auto may choose dgc, which works with momentum and sgd, not with "
                  + optimizer.getClass().getSimpleName(),
              "use one of them, or exchange: dense, with %s for half the bytes"
                  .formatted(Remedy.HALF_PRECISION_SUMS.named())));
    }
    if (facts.groups().haveRates()) {
      issues.add(
          PlanIssue.error(
              "exchange: auto may choose dgc, which moves all parameters by one learning rate, but"
                  + " groups or layer_decay give some their own",
              "use exchange: dense, with %s for half the bytes"
                  .formatted(Remedy.HALF_PRECISION_SUMS.named())));
    }
    if (facts.layout().precision() == Precision.FLOAT64) {
      issues.add(
          PlanIssue.error(
              "exchange: auto may send 16 bits, but precision is float64",
              "use exchange: dense, or precision: float32"));
    }
    if (facts.ranks() == 1) {
      issues.add(
          PlanIssue.warning(
              "exchange: auto has no effect on one rank", "start more ranks, or remove it"));
    }
    return issues;
  }
}
