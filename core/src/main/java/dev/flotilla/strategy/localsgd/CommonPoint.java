package dev.flotilla.strategy.localsgd;

import dev.flotilla.memory.TensorScope;
import dev.flotilla.state.RunState;
import org.bytedeco.pytorch.Scalar;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;
import org.jspecify.annotations.Nullable;

/**
 * The values that all ranks held last, equal to the bit, and the way from there to the next ones.
 *
 * <p>d = w − S travels; S ← S + mean d, or the outer optimizer's step along it; then w ← S. Where a
 * round was in the background, w has moved on meanwhile: w ← S + (w − what it was at departure).
 */
final class CommonPoint implements AutoCloseable {

  private final LiveValues live;
  private final @Nullable OuterOptimizer outer;
  private final Tensor point;
  private final Tensor difference;
  private final @Nullable Tensor departure;
  private final @Nullable Tensor velocity;

  /** Takes the present values for the common ones. */
  CommonPoint(LiveValues live, Averaging settings) {
    this.live = live;
    this.outer = settings.outer();
    try (var _ = TensorScope.open()) {
      point = zeros(live.length());
      difference = zeros(live.length());
      departure = settings.overlap() ? zeros(live.length()) : null;
      boolean hasVelocity = outer != null && outer.name() == OuterRule.NESTEROV;
      velocity = hasVelocity ? zeros(live.parameters().numel()) : null;
      live.readInto(point);
    }
  }

  private Tensor zeros(long length) {
    return TensorScope.keep(live.parameters().new_zeros(length));
  }

  /** Returns what travels: this rank's way since the last average, to be replaced by the mean. */
  Tensor depart() {
    if (departure == null) {
      live.readLess(point, difference);
    } else {
      live.readInto(departure);
      torch.sub_out(difference, departure, point);
    }
    return difference;
  }

  /**
   * Moves the common values along the mean way that has arrived.
   *
   * @param isOuter whether the outer optimizer is at work already
   * @param wasBehind whether ranks have gone on meanwhile
   * @return the distance between this rank's parameters at departure and the average
   */
  double arrive(boolean isOuter, boolean wasBehind) {
    try (var _ = TensorScope.open()) {
      var from = wasBehind && departure != null ? parametersOf(departure) : live.parameters();
      double drift;
      if (outer != null && isOuter) {
        var way = from.sub(parametersOf(point));
        drift = way.sub_(parametersOf(difference)).norm().item_double();
        stepOuter(outer);
      } else {
        // The average itself is the new point, and the difference is of no further use.
        point.add_(difference);
        var scratch = parametersOf(difference);
        drift = torch.sub_out(scratch, from, parametersOf(point)).norm().item_double();
      }
      land(wasBehind);
      return drift;
    }
  }

  private void stepOuter(OuterOptimizer rule) {
    var way = parametersOf(difference);
    var parameters = parametersOf(point);
    parameters.add_(way, new Scalar(rule.lr()));
    if (velocity != null) {
      velocity.mul_(new Scalar(rule.momentum())).add_(way);
      parameters.add_(velocity, new Scalar(rule.lr() * rule.momentum()));
    }
    long from = way.numel();
    var rest = difference.narrow(0, from, difference.numel() - from);
    point.narrow(0, from, rest.numel()).add_(rest);
  }

  private void land(boolean wasBehind) {
    if (wasBehind && departure != null) {
      live.readInto(difference);
      difference.sub_(departure).add_(point);
      live.writeFrom(difference);
    } else {
      live.writeFrom(point);
    }
  }

  private Tensor parametersOf(Tensor flat) {
    return flat.narrow(0, 0, live.parameters().numel());
  }

  /** Takes the present parameters, which all ranks share, for the common ones. */
  void startHere() {
    try (var _ = TensorScope.open()) {
      parametersOf(point).copy_(live.parameters());
    }
  }

  /** Puts down, or takes up; what is in the background must have arrived. */
  void remember(RunState state) {
    state.shared().tensor("localsgd/point", point);
    if (velocity != null) {
      state.shared().tensor("localsgd/velocity", velocity);
    }
    if (departure != null) {
      state.shared().tensor("localsgd/difference", difference);
      state.own().tensor("localsgd/departure", departure);
    }
  }

  @Override
  public void close() {
    TensorScope.free(point);
    TensorScope.free(difference);
    TensorScope.free(departure);
    TensorScope.free(velocity);
  }
}
