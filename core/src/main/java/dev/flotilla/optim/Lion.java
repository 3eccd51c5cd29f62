package dev.flotilla.optim;

import dev.flotilla.optim.Packed.Piece;
import dev.flotilla.settings.Setting;
import java.util.List;
import java.util.OptionalInt;
import org.bytedeco.pytorch.Scalar;
import org.jspecify.annotations.Nullable;

/**
 * Lion, which moves every element by the same amount (Chen et al., 2023).
 *
 * <p>w ← (1 − η λ) w − η sign(β₁ m + (1 − β₁) g); m ← β₂ m + (1 − β₂) g. Its rate is usually a
 * third to a tenth of AdamW's, its decay as much larger.
 *
 * @param lr learning rate η
 * @param betas rates β₁ of what is stepped along and β₂ of what is remembered
 * @param weightDecay decay λ; biases and norms are not decayed unless a name pattern says so
 * @param scaleLr how η grows with the batch
 * @param baseBatch the batch for which η was found, or null without scaling
 */
public record Lion(
    @Setting(doc = Rules.LR) double lr,
    @Setting(
            doc = "decay rates of the step's direction and of the momentum, each in [0, 1)",
            def = "[0.9, 0.99]")
        List<Double> betas,
    @Setting(doc = Rules.WEIGHT_DECAY, def = "0") double weightDecay,
    @Setting(doc = Rules.SCALE_LR, def = "none") LrScaling scaleLr,
    @Setting(doc = Rules.BASE_BATCH, def = "null") @Nullable Integer baseBatch)
    implements WeightDecayRule {

  /** Checks the settings. */
  public Lion {
    betas = List.copyOf(betas);
    scaleLr.check(Rules.checkBetas(Rules.check(lr, weightDecay), betas), baseBatch).orThrow();
  }

  /** Returns the rule without scaling of the rate. */
  public Lion(double lr, List<Double> betas, double weightDecay) {
    this(lr, betas, weightDecay, LrScaling.NONE, null);
  }

  /** Returns the rule with its usual settings. */
  public Lion(double lr) {
    this(lr, List.of(0.9, 0.99), 0);
  }

  @Override
  public OptionalInt numbersPerParameter() {
    return OptionalInt.of(1);
  }

  @Override
  public boolean hasBetas() {
    return true;
  }

  @Override
  public Bound bind(List<ParameterGroup> groups) {
    return new ElementwiseRule(
        groups, 1, (piece, group, rate, _) -> updatePiece(piece, group, rate));
  }

  private void updatePiece(Piece piece, GroupValues group, double rate) {
    if (group.weightDecay() != 0) {
      piece.parameter().mul_(new Scalar(1 - rate * group.weightDecay()));
    }
    double along = group.betasOr(betas).get(0);
    double kept = group.betasOr(betas).get(1);
    var momentum = piece.state(0);
    var direction =
        momentum.mul(new Scalar(along)).add_(piece.gradient(), new Scalar(1 - along)).sign_();
    piece.parameter().add_(direction, new Scalar(-rate));
    momentum.mul_(new Scalar(kept)).add_(piece.gradient(), new Scalar(1 - kept));
  }
}
