package dev.flotilla.step;

import dev.flotilla.arena.Totals;
import dev.flotilla.pass.MicroStep;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * What a micro-step did.
 *
 * <p>On a GPU the device itself may judge the gradients of a window, and tell later: {@link
 * #updated}, {@link #lr} and {@link #notFinite} wait for it then, and {@link #isKnown} says whether
 * they would. At the latest it is known when the next backward begins.
 */
public final class StepOutcome {

  private final MicroStep step;
  private final Totals totals;
  private final Runnable settling;
  private List<Consumer<StepOutcome>> waiting = new ArrayList<>();
  private @Nullable Known known;

  private record Known(boolean updated, double lr, Optional<String> notFinite) {}

  /**
   * States what a micro-step did.
   *
   * @param step its place in the run
   * @param updated whether an update was made; where each rank makes its own, also if this one left
   *     it out
   * @param totals loss and count of the window at a boundary, over all ranks that exchange
   *     gradients; this rank's so far before
   * @param lr learning rate of the update, or 0 without one
   * @param notFinite what was infinite or undefined, so that nothing was updated; empty if all is
   *     well
   */
  public StepOutcome(
      MicroStep step, boolean updated, Totals totals, double lr, Optional<String> notFinite) {
    this(step, totals, () -> {});
    known = new Known(updated, lr, notFinite);
  }

  StepOutcome(MicroStep step, Totals totals) {
    this(step, false, totals, 0, Optional.empty());
  }

  /**
   * Leaves open whether an update was made.
   *
   * @param settling waits until it is known, and says so
   */
  StepOutcome(MicroStep step, Totals totals, Runnable settling) {
    this.step = step;
    this.totals = totals;
    this.settling = settling;
  }

  /** Hears what became of the update. */
  void decide(boolean updated, double lr, Optional<String> notFinite) {
    known = new Known(updated, lr, notFinite);
  }

  /** Calls those who wait for it. */
  void tell() {
    var all = waiting;
    waiting = new ArrayList<>();
    all.forEach(it -> it.accept(this));
  }

  /** Tells whether it is known if an update was made, so that nothing has to be waited for. */
  public boolean isKnown() {
    return known != null;
  }

  /**
   * Calls somebody as soon as it is known whether an update was made: now, or in the next step
   * before its update. What it throws comes out of the call that was under way.
   */
  public void whenKnown(Consumer<StepOutcome> action) {
    if (isKnown()) {
      action.accept(this);
    } else {
      waiting.add(action);
    }
  }

  private Known known() {
    if (known == null) {
      settling.run();
    }
    return Objects.requireNonNull(known);
  }

  /** Returns its place in the run. */
  public MicroStep step() {
    return step;
  }

  /**
   * Tells whether an update was made; where each rank makes its own, also if this one left it out.
   */
  public boolean updated() {
    return known().updated();
  }

  /**
   * Returns loss and count of the window at a boundary, over all ranks that exchange gradients;
   * this rank's so far before.
   */
  public Totals totals() {
    return totals;
  }

  /** Returns the learning rate of the update, or 0 without one. */
  public double lr() {
    return known().lr();
  }

  /** Returns what was infinite or undefined, so that nothing was updated; empty if all is well. */
  public Optional<String> notFinite() {
    return known().notFinite();
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof StepOutcome outcome
        && step.equals(outcome.step)
        && totals.equals(outcome.totals)
        && known().equals(outcome.known());
  }

  @Override
  public int hashCode() {
    return Objects.hash(step, totals, known());
  }

  @Override
  public String toString() {
    return "StepOutcome[step=%s, updated=%s, totals=%s, lr=%s, notFinite=%s]"
        .formatted(step, updated(), totals, lr(), notFinite());
  }
}
