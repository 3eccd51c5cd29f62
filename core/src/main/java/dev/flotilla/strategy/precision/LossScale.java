package dev.flotilla.strategy.precision;

import dev.flotilla.arena.Totals;
import dev.flotilla.collective.Reduction;
import dev.flotilla.collective.Traffic;
import dev.flotilla.exchange.GradientView;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.memory.Tensors;
import dev.flotilla.pass.MicroStep;
import dev.flotilla.settings.Remedy;
import dev.flotilla.state.RunState;
import dev.flotilla.step.GradientFilter;
import dev.flotilla.step.NumericalException;
import dev.flotilla.step.StepContext;
import java.util.Map;
import java.util.function.Consumer;

/**
 * The loss scale of fp16: constant within a window, undone once at its end, and moved by what the
 * window was like. All ranks see the same exchanged gradients, so all move it alike.
 */
final class LossScale {

  private static final int MOST_SKIPPED_AT_A_FIXED_SCALE = 10;
  private static final long UNKNOWN = 0;

  private final MixedPrecision settings;
  private final StepContext context;
  private final Consumer<String> notices;
  private double scale;
  private long good;
  private long bad;
  private long skipped;
  private long inARow;
  // The most terms of a window as a power of two, equal on all ranks but in the first window, where
  // each guesses by its own batch. A short window must not raise what the next one starts from.
  private long nominal = UNKNOWN;
  private boolean isAgreed;
  private boolean isGuessed = true;

  LossScale(MixedPrecision settings, StepContext context) {
    this.settings = settings;
    this.scale = settings.initLossScaling();
    this.context = context;
    notices = context.notices();
  }

  /** Returns what backward starts from; without an earlier window, guesses from this batch. */
  double seed(long terms) {
    if (nominal == UNKNOWN) {
      nominal = powerOfTwo(Math.max(1, terms) * context.collective().size());
    }
    return scale / nominal;
  }

  static long powerOfTwo(long count) {
    return Long.highestOneBit(Math.max(1, 2 * count - 1));
  }

  /** In the first window each rank has guessed by its own batch: now all take the largest guess. */
  GradientFilter agreeing() {
    return new GradientFilter() {
      @Override
      public boolean apply(GradientView gradients, MicroStep step) {
        agree(gradients);
        return true;
      }

      @Override
      public boolean isDue() {
        return !isAgreed;
      }

      @Override
      public void remember(RunState state) {
        LossScale.this.remember(state);
      }

      @Override
      public Map<String, Object> metrics() {
        return Map.of("amp", Map.of("loss_scale", scale, "skipped_updates", skipped));
      }
    };
  }

  /**
   * Makes the guesses one: what is summed over ranks, or saved for another number of them, has one
   * scale. Powers of two leave the gradients as they are.
   */
  private void agree(GradientView gradients) {
    if (isAgreed) {
      return;
    }
    long guess = largest(nominal);
    if (guess != UNKNOWN) {
      gradients.scale((double) Math.max(1, nominal) / guess);
      nominal = guess;
      isAgreed = true;
    }
  }

  private long largest(long own) {
    try (var _ = TensorScope.open()) {
      var all = Tensors.ofDoubles((double) own);
      context.collective().allReduce(all, Reduction.MAX, Traffic.SCALAR).await();
      return (long) all.item_double();
    }
  }

  GradientFilter unscaling() {
    return GradientFilter.Late.of(gradients -> gradients.scale(nominal / scale));
  }

  GradientFilter voting() {
    return new GradientFilter.Late() {
      @Override
      public boolean apply(GradientView gradients, MicroStep step) {
        var totals = gradients.totals();
        boolean isFinite = gradients.isFinite() && Double.isFinite(totals.lossSum());
        judged(totals, isFinite);
        return isFinite;
      }

      @Override
      public void applyUnjudged(GradientView gradients, MicroStep step) {}

      @Override
      public void judged(Totals totals, boolean isFinite) {
        move(isFinite, Double.isFinite(totals.lossSum()));
        long terms = powerOfTwo(totals.count());
        nominal = isGuessed ? terms : Math.max(nominal, terms);
        isGuessed = false;
      }
    };
  }

  private void move(boolean isGood, boolean isLossFinite) {
    if (isGood) {
      bad = 0;
      inARow = 0;
      good++;
      grow();
      return;
    }
    good = 0;
    bad++;
    skipped++;
    inARow++;
    endIfHopeless(isLossFinite);
    shrink();
    notices.accept(
        "amp: %s, update skipped (%d so far), loss scale %s"
            .formatted(
                isLossFinite ? "a gradient overflowed" : "the loss is not finite", skipped, scale));
  }

  private void grow() {
    if (settings.useDynamicLossScaling() && good >= settings.incrEveryNSteps()) {
      double larger = scale * settings.incrRatio();
      scale = Double.isFinite((float) larger) ? larger : scale;
      good = 0;
    }
  }

  private void shrink() {
    if (settings.useDynamicLossScaling() && bad >= settings.decrEveryNNanOrInf()) {
      scale = Math.max(1, scale * settings.decrRatio());
      bad = 0;
    }
  }

  private void endIfHopeless(boolean isLossFinite) {
    boolean canShrink = settings.useDynamicLossScaling() && scale > 1 && isLossFinite;
    if (canShrink || inARow < MOST_SKIPPED_AT_A_FIXED_SCALE) {
      return;
    }
    throw new NumericalException(
        "amp: %d updates in a row were skipped at loss scale %s because %s; %s"
            .formatted(
                inARow,
                scale,
                isLossFinite ? "gradients overflow" : "the loss is not finite",
                isLossFinite
                    ? "use dtype: bf16, a smaller learning rate, or " + Remedy.LIMITED_NORM.named()
                    : "no loss scale mends that: look at the data and the learning rate, or use"
                        + " dtype: bf16"));
  }

  private void remember(RunState state) {
    var shared = state.shared().part("amp");
    scale = shared.real("scale", scale);
    good = shared.number("good", good);
    bad = shared.number("bad", bad);
    skipped = shared.number("skipped", skipped);
    inARow = shared.number("in_a_row", inARow);
    if (state.isSaving()) {
      agree(GradientView.unexchanged(context.arena()));
    }
    isAgreed = shared.number("agreed", isAgreed ? 1 : 0) == 1;
    isGuessed =
        shared.has("guessed") ? shared.number("guessed", isGuessed ? 1 : 0) == 1 : !isAgreed;
    nominal = shared.number("nominal", nominal);
  }
}
