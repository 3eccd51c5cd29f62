package dev.flotilla.step;

import dev.flotilla.arena.Gradients;
import dev.flotilla.arena.Totals;
import dev.flotilla.collective.Collective;
import dev.flotilla.collective.Traffic;
import dev.flotilla.exchange.GradientView;
import dev.flotilla.memory.NativeView;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.memory.Tensors;
import dev.flotilla.pass.MicroStep;
import dev.flotilla.state.RunState;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Keeps infinite and undefined numbers out of the parameters: the last look at a gradient before
 * the update.
 *
 * <p>It looks at what all ranks share after the exchange, so that they decide alike without another
 * collective. One pass over the gradients per update.
 */
final class FiniteCheck implements GradientFilter.Late {

  private final Gradients gradients;
  private final Collective collective;
  private boolean ownLossIsFinite = true;
  private Optional<String> finding = Optional.empty();

  FiniteCheck(Gradients gradients, Collective collective) {
    this.gradients = gradients;
    this.collective = collective;
  }

  /** Looks at this rank's loss while it is still apart from the others'. */
  void beforeExchange() {
    finding = Optional.empty();
    // A rank that is alone looks once, with the gradients: on a device each look means to wait.
    ownLossIsFinite = collective.size() == 1 || Double.isFinite(gradients.totals().lossSum());
  }

  /** Returns what was not finite in this window, if anything. */
  Optional<String> finding() {
    return finding;
  }

  @Override
  public boolean apply(GradientView view, MicroStep step) {
    double loss = view.lossSum();
    boolean passes = Double.isFinite(loss) && view.isFinite();
    if (!passes) {
      note(loss);
    }
    return passes;
  }

  @Override
  public void applyUnjudged(GradientView view, MicroStep step) {}

  @Override
  public void judged(Totals totals, boolean isFinite) {
    if (!isFinite) {
      note(totals.lossSum());
    }
  }

  private void note(double loss) {
    ownLossIsFinite = ownLossIsFinite && (collective.size() > 1 || Double.isFinite(loss));
    finding = Optional.of(describe(loss));
  }

  /**
   * Returns a technique's own vote about gradients, with an eye on the loss: what overflows in a
   * number type is the technique's business, but no vote mends a loss that is not finite.
   */
  GradientFilter watching(GradientFilter vote) {
    return vote instanceof GradientFilter.Late late ? new LateWatch(late) : new Watch<>(vote);
  }

  /** Watches a vote. */
  private class Watch<F extends GradientFilter> implements GradientFilter {

    final F vote;

    Watch(F vote) {
      this.vote = vote;
    }

    @Override
    public boolean apply(GradientView view, MicroStep step) {
      boolean passes = vote.apply(view, step);
      watch(passes, view.lossSum());
      return passes;
    }

    final void watch(boolean passes, double loss) {
      if (!passes && !Double.isFinite(loss)) {
        note(loss);
      }
    }

    @Override
    public boolean isDue() {
      return vote.isDue();
    }

    @Override
    public void remember(RunState state) {
      vote.remember(state);
    }

    @Override
    public Map<String, Object> metrics() {
      return vote.metrics();
    }
  }

  /** Watches a vote that can come later. */
  private final class LateWatch extends Watch<GradientFilter.Late> implements GradientFilter.Late {

    LateWatch(GradientFilter.Late vote) {
      super(vote);
    }

    @Override
    public void applyUnjudged(GradientView view, MicroStep step) {
      vote.applyUnjudged(view, step);
    }

    @Override
    public void judged(Totals totals, boolean isFinite) {
      vote.judged(totals, isFinite);
      watch(isFinite, totals.lossSum());
    }
  }

  private String describe(double loss) {
    var ranks = ranksWithInfiniteLoss();
    if (!ranks.isEmpty()) {
      return "the loss of rank " + joined(ranks) + " is not finite";
    }
    if (!Double.isFinite(loss)) {
      return "each rank's loss is finite, but their sum is " + loss;
    }
    var tensors = tensors();
    return "the loss is finite, but not the gradient of "
        + (tensors.isEmpty() ? "another rank" : joined(tensors));
  }

  /** All ranks come here together, as all saw the same gradients. */
  private List<Integer> ranksWithInfiniteLoss() {
    List<Integer> ranks = new ArrayList<>();
    try (var _ = TensorScope.open()) {
      var all = Tensors.ofLongs(new long[collective.size()]);
      var own = Tensors.ofLongs(ownLossIsFinite ? 0 : 1);
      collective.allGather(all, own, Traffic.SCALAR).await();
      var flags = NativeView.of(all);
      for (int rank = 0; rank < collective.size(); rank++) {
        if (flags.getAtIndex(ValueLayout.JAVA_LONG, rank) == 1) {
          ranks.add(rank);
        }
      }
    }
    return ranks;
  }

  private List<String> tensors() {
    List<String> names = new ArrayList<>();
    for (var slot : gradients.layout().slots()) {
      if (!gradients.isFinite(slot)) {
        names.add(slot.spec().name());
      }
    }
    return names;
  }

  private static String joined(List<?> items) {
    var shown = items.stream().limit(4).map(String::valueOf).toList();
    int more = items.size() - shown.size();
    return String.join(", ", shown) + (more > 0 ? " and " + more + " more" : "");
  }
}
