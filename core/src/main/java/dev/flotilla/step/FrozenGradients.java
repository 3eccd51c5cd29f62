package dev.flotilla.step;

import dev.flotilla.arena.Layout;
import dev.flotilla.arena.Slot;
import dev.flotilla.exchange.GradientView;
import dev.flotilla.pass.MicroStep;
import java.util.List;
import java.util.stream.Stream;

/**
 * Clears the gradients of parameters that are frozen in the first epochs: what stays as it is has
 * no part in the norm, as where PyTorch has no gradient.
 */
final class FrozenGradients implements GradientFilter.Late {

  private final UpdateSettings settings;
  private final List<Slot> thawing;

  private FrozenGradients(UpdateSettings settings, List<Slot> thawing) {
    this.settings = settings;
    this.thawing = thawing;
  }

  /** Returns filters with this one before them, where there is something to clear. */
  static List<GradientFilter> before(
      List<GradientFilter> filters, Layout layout, UpdateSettings settings) {
    var thawing =
        layout.slots().stream()
            .filter(slot -> settings.valuesOf(slot.spec()).frozenEpochs() > 0)
            .toList();
    return thawing.isEmpty()
        ? filters
        : Stream.concat(Stream.of(new FrozenGradients(settings, thawing)), filters.stream())
            .toList();
  }

  @Override
  public boolean apply(GradientView gradients, MicroStep step) {
    applyUnjudged(gradients, step);
    return true;
  }

  @Override
  public void applyUnjudged(GradientView gradients, MicroStep step) {
    for (var slot : thawing) {
      if (settings.isFrozen(settings.valuesOf(slot.spec()))) {
        gradients.clear(slot);
      }
    }
  }
}
