package dev.flotilla.exchange;

import dev.flotilla.arena.Gradients;
import dev.flotilla.arena.Slot;
import dev.flotilla.arena.Totals;

/** Gradients as they lie in the arena, equal on all ranks. */
record ReducedGradients(Gradients gradients) implements GradientView {

  @Override
  public double norm() {
    return gradients.norm();
  }

  @Override
  public double limit(double ofMean) {
    return ofMean;
  }

  @Override
  public void scale(double by) {
    gradients.scale(by);
  }

  @Override
  public void limitEach(double most) {
    gradients.limitEach(most);
  }

  @Override
  public boolean isFinite() {
    return gradients.isFinite();
  }

  @Override
  public void clear(Slot slot) {
    gradients.clear(slot);
  }

  @Override
  public boolean isZero(Slot slot) {
    return gradients.isZero(slot);
  }

  @Override
  public Totals totals() {
    return gradients.totals();
  }

  @Override
  public double lossSum() {
    return gradients.lossSum();
  }
}
