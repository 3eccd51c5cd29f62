package dev.flotilla.model;

import dev.flotilla.data.Batch;
import dev.flotilla.settings.Check;
import dev.flotilla.settings.Setting;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.DoubleStream;
import org.bytedeco.pytorch.Scalar;
import org.bytedeco.pytorch.Tensor;

/**
 * Several objectives at once, each with a weight, an output of the model and a target of its own.
 *
 * <p>L = Σᵢ wᵢ Sᵢ / Cᵢ, where sum Sᵢ and count Cᵢ are those of the i-th objective over the whole
 * accumulation window and all ranks: what one large batch would give. The first objective scores.
 *
 * @param terms the objectives
 */
public record WeightedSum(
    @Setting(doc = "objectives, each with weight, output and target") List<Term> terms)
    implements Objective {

  /**
   * One of several objectives.
   *
   * @param objective what is asked for
   * @param weight factor on its mean
   * @param output number of the model's output tensor
   * @param target number of the batch's target tensor
   */
  public record Term(
      @Setting(doc = "the loss") Objective objective,
      @Setting(doc = "factor on the objective's mean, > 0", def = "1") double weight,
      @Setting(doc = "which output tensor of the model, from 0", def = "0") int output,
      @Setting(doc = "which target tensor of the data, from 0", def = "0") int target) {

    /** Checks the settings. */
    public Term {
      Check.that(weight > 0 && Double.isFinite(weight), "weight", "must be greater than 0", weight)
          .and(output >= 0, "output", "must be at least 0", output)
          .and(target >= 0, "target", "must be at least 0", target)
          .orThrow();
    }

    private Activations of(Activations outputs) {
      if (output >= outputs.tensors().size()) {
        throw new IllegalArgumentException(
            "an objective is for output %d, counted from 0, but the model has %d"
                .formatted(output, outputs.tensors().size()));
      }
      return Activations.of(outputs.tensors().get(output));
    }

    private Batch of(Batch batch) {
      return batch.withTarget(target);
    }

    private List<Tensor> sums(Activations outputs, Batch batch) {
      var own = of(outputs);
      var sums =
          objective
              .parts()
              .map(parts -> parts.sums(own, of(batch)))
              .orElseGet(() -> List.of(objective.loss(own, of(batch)).sum()));
      return sums.stream().map(sum -> sum.mul(new Scalar(weight))).toList();
    }

    private double[] divisors(Batch batch) {
      return objective
          .parts()
          .map(parts -> parts.divisors(of(batch)))
          .orElseGet(() -> new double[] {objective.count(of(batch))});
    }

    private int size() {
      return objective.parts().map(ObjectiveParts::size).orElse(1);
    }
  }

  /** Checks the settings. */
  public WeightedSum {
    terms = List.copyOf(terms);
    Check.that(!terms.isEmpty(), "terms", "must hold at least one objective", terms).orThrow();
  }

  /** Returns the sum of some terms. */
  public WeightedSum(Term... terms) {
    this(List.of(terms));
  }

  /** What the engine sees of the terms. */
  private record Parts(List<Term> terms) implements ObjectiveParts {

    @Override
    public int size() {
      return terms.stream().mapToInt(Term::size).sum();
    }

    @Override
    public double[] divisors(Batch batch) {
      return terms.stream().flatMapToDouble(it -> DoubleStream.of(it.divisors(batch))).toArray();
    }

    @Override
    public List<Tensor> sums(Activations outputs, Batch batch) {
      List<Tensor> sums = new ArrayList<>();
      terms.forEach(term -> sums.addAll(term.sums(outputs, batch)));
      return sums;
    }
  }

  @Override
  public Optional<ObjectiveParts> parts() {
    return Optional.of(new Parts(terms));
  }

  @Override
  public LossTerms loss(Activations outputs, Batch batch) {
    return new Parts(terms).loss(outputs, batch);
  }

  @Override
  public void requireTargets(Activations outputs, Batch batch) {
    terms.forEach(term -> term.objective().requireTargets(term.of(outputs), term.of(batch)));
  }

  @Override
  public Score score(Activations outputs, Batch batch) {
    var first = terms.getFirst();
    return first.objective().score(first.of(outputs), first.of(batch));
  }

  @Override
  public Answers answers(Activations outputs, Batch batch) {
    var first = terms.getFirst();
    return first.objective().answers(first.of(outputs), first.of(batch));
  }

  @Override
  public Task task() {
    return terms.getFirst().objective().task();
  }
}
