package dev.flotilla.optim;

import dev.flotilla.optim.Packed.Piece;
import dev.flotilla.settings.Setting;
import java.util.List;
import java.util.OptionalInt;
import org.bytedeco.pytorch.Scalar;
import org.jspecify.annotations.Nullable;

/**
 * Adagrad (Duchi, Hazan and Singer, 2011), as PyTorch writes it.
 *
 * <p>g ← g + λ w; s ← s + g²; w ← w − η / (1 + (t − 1) δ) g / (√s + ε) at update t.
 *
 * @param lr learning rate η
 * @param lrDecay fall δ of the rate from update to update
 * @param initialAccumulatorValue what s starts from
 * @param eps added to the denominator
 * @param weightDecay decay λ; biases and norms are not decayed unless a name pattern says so
 * @param scaleLr how η grows with the batch
 * @param baseBatch the batch for which η was found, or null without scaling
 */
public record Adagrad(
    @Setting(doc = Rules.LR) double lr,
    @Setting(
            doc = "divides the learning rate by 1 + lr_decay * updates made before, >= 0",
            def = "0")
        double lrDecay,
    @Setting(doc = "value that the sum of squared gradients starts from, >= 0", def = "0")
        double initialAccumulatorValue,
    @Setting(doc = "added to the denominator, > 0", def = "1e-10") double eps,
    @Setting(doc = Rules.WEIGHT_DECAY, def = "0") double weightDecay,
    @Setting(doc = Rules.SCALE_LR, def = "none") LrScaling scaleLr,
    @Setting(doc = Rules.BASE_BATCH, def = "null") @Nullable Integer baseBatch)
    implements WeightDecayRule {

  /** Checks the settings. */
  public Adagrad {
    scaleLr
        .check(Rules.check(lr, weightDecay), baseBatch)
        .and(lrDecay >= 0, "lr_decay", "must be at least 0", lrDecay)
        .and(
            initialAccumulatorValue >= 0,
            "initial_accumulator_value",
            "must be at least 0",
            initialAccumulatorValue)
        .and(eps > 0, "eps", "must be greater than 0", eps)
        .orThrow();
  }

  /** Returns the rule without scaling of the rate. */
  public Adagrad(
      double lr, double lrDecay, double initialAccumulatorValue, double eps, double weightDecay) {
    this(lr, lrDecay, initialAccumulatorValue, eps, weightDecay, LrScaling.NONE, null);
  }

  /** Returns the rule with its usual settings. */
  public Adagrad(double lr) {
    this(lr, 0, 0, 1e-10, 0);
  }

  @Override
  public OptionalInt numbersPerParameter() {
    return OptionalInt.of(1);
  }

  @Override
  public Bound bind(List<ParameterGroup> groups) {
    return new ElementwiseRule(groups, 1, this::updatePiece);
  }

  private void updatePiece(Piece piece, GroupValues group, double rate, long update) {
    var gradient = ElementwiseRule.decayed(piece, group.weightDecay());
    var sum = piece.state(0);
    sum.addcmul_(gradient, gradient, new Scalar(1.0));
    // What is remembered starts from zero, as all memory does, so the start is added here.
    var denominator = sum.add(new Scalar(initialAccumulatorValue)).sqrt_().add_(new Scalar(eps));
    double fallen = rate / (1 + (update - 1) * lrDecay);
    piece.parameter().addcdiv_(gradient, denominator, new Scalar(-fallen));
  }
}
