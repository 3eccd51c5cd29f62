package dev.flotilla.optim;

import dev.flotilla.memory.TensorScope;
import dev.flotilla.settings.Setting;
import dev.flotilla.state.State;
import java.util.List;
import java.util.OptionalInt;
import org.bytedeco.pytorch.Scalar;
import org.jspecify.annotations.Nullable;

/**
 * Plain stochastic gradient descent: w ← w − η (g + λ w).
 *
 * @param lr learning rate η
 * @param weightDecay decay λ
 * @param scaleLr how η grows with the batch
 * @param baseBatch the batch for which η was found, or null without scaling
 */
public record Sgd(
    @Setting(doc = Rules.LR) double lr,
    @Setting(doc = Rules.WEIGHT_DECAY, def = "0") double weightDecay,
    @Setting(doc = Rules.SCALE_LR, def = "none") LrScaling scaleLr,
    @Setting(doc = Rules.BASE_BATCH, def = "null") @Nullable Integer baseBatch)
    implements GroupRule {

  /** Checks the settings. */
  public Sgd {
    scaleLr.check(Rules.check(lr, weightDecay), baseBatch).orThrow();
  }

  /** Returns plain descent with decay. */
  public Sgd(double lr, double weightDecay) {
    this(lr, weightDecay, LrScaling.NONE, null);
  }

  /** Returns plain descent without decay. */
  public Sgd(double lr) {
    this(lr, 0);
  }

  @Override
  public OptionalInt numbersPerParameter() {
    return OptionalInt.of(0);
  }

  @Override
  public Bound bind(List<ParameterGroup> groups) {
    return new Bound() {
      @Override
      public void update(double lr) {
        // The same operators as libtorch's own loop, so that the result is the same to the bit.
        try (var _ = TensorScope.open()) {
          groups.stream()
              .filter(group -> !group.isFrozen().getAsBoolean())
              .forEach(group -> updateGroup(group, new Scalar(-group.lr(lr))));
        }
      }

      @Override
      public void remember(State state) {}

      @Override
      public void close() {}
    };
  }

  private static void updateGroup(ParameterGroup group, Scalar step) {
    var device = group.memory().device();
    for (var slice : group.slices()) {
      try (var _ = TensorScope.open()) {
        var parameter = device.bring(slice.parameter());
        var gradient = device.bring(slice.gradient());
        if (group.weightDecay() != 0) {
          gradient = gradient.add(parameter, new Scalar(group.weightDecay()));
        }
        parameter.add_(gradient, step);
        if (parameter.is_cuda() != slice.parameter().is_cuda()) {
          slice.parameter().copy_(parameter);
        }
      }
    }
  }
}
