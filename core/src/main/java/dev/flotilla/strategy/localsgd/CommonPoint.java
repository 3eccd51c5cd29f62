package dev.flotilla.strategy.localsgd;

import dev.flotilla.collective.Reduction;
import dev.flotilla.collective.Traffic;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.state.RunState;
import dev.flotilla.state.State;
import java.util.List;
import org.bytedeco.pytorch.Scalar;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;
import org.jspecify.annotations.Nullable;

/**
 * The values that all ranks held last, equal to the bit, and the way from there to the next ones.
 *
 * <p>d = w − S travels; S ← S + mean d, or the outer optimizer's step along it; then w ← S. Where a
 * round was in the background, w has moved on meanwhile: w ← S + (w − what it was at departure).
 *
 * <p>Running statistics and an optimizer's memory travel as they are, so that the mean of what is
 * never negative is not negative either. They fade, so that only a part c of what departed is left
 * in them when the mean arrives: v ← v + c (S − what v was at departure), with c = v / what it was,
 * within [0, 1].
 */
final class CommonPoint implements AutoCloseable {

  private final LiveValues live;
  private final Levels levels;
  private final boolean isSliced;
  private final @Nullable OuterOptimizer outer;
  private final Tensor point;
  private final Tensor difference;
  private final @Nullable Tensor departure;
  private final @Nullable Tensor velocity;
  private final List<Range> ranges;

  /**
   * Takes the present values for the common ones.
   *
   * @param live closed with this
   * @param isSliced whether other ranks inside have other parameters
   */
  CommonPoint(LiveValues live, Averaging settings, Levels levels, boolean isSliced) {
    this.live = live;
    this.levels = levels;
    this.isSliced = isSliced;
    this.outer = settings.outer();
    try (var _ = TensorScope.open()) {
      point = zeros(live.length());
      difference = zeros(live.length());
      departure = settings.overlap() ? zeros(live.length()) : null;
      boolean hasVelocity = outer != null && outer.name() == OuterRule.NESTEROV;
      velocity = hasVelocity ? zeros(live.count()) : null;
      ranges = live.ranges();
      takeAll();
    }
  }

  /** Takes all present values for the common ones. */
  void takeAll() {
    ranges.forEach(range -> live.read(range, point));
  }

  private Tensor zeros(long length) {
    return TensorScope.keep(live.zeros(length));
  }

  /** Returns the pieces in which the values come and go, in order. */
  List<Range> ranges() {
    return ranges;
  }

  /** Returns what travels: this rank's way since the last average, to be replaced by the mean. */
  Tensor difference() {
    return difference;
  }

  /** Finds a piece of this rank's way. */
  void depart(Range range) {
    try (var _ = TensorScope.open()) {
      if (departure != null) {
        live.read(range, departure);
      }
      if (!range.isOfParameters()) {
        departAsItIs(range);
      } else if (departure == null) {
        live.in(range).forEach(this::depart);
      } else {
        torch.sub_out(range.of(difference), range.of(departure), range.of(point));
      }
    }
  }

  private void depart(LiveValues.Part part) {
    var range = part.range();
    torch.sub_out(range.of(difference), part.live(), range.of(point));
  }

  private void departAsItIs(Range range) {
    live.read(range, difference);
    var statistics = live.statisticsOf(difference);
    var inside = levels.inside();
    if (inside.size() > 1 && statistics.numel() > 0) {
      // The replica speaks with one voice, and each rank inside has seen samples of its own.
      inside.allReduce(statistics, Reduction.SUM, Traffic.SCALAR).await();
      statistics.div_(new Scalar((double) inside.size()));
    }
  }

  /**
   * Moves a piece of the common values along the mean way that has arrived.
   *
   * @param isOuter whether the outer optimizer is at work already
   * @param wasBehind whether ranks have gone on meanwhile
   * @return the squared distance between this rank's parameters at departure and the average
   */
  double arrive(Range range, boolean isOuter, boolean wasBehind) {
    try (var _ = TensorScope.open()) {
      double squared = 0;
      if (range.isOfParameters()) {
        squared =
            wasBehind && departure != null
                ? move(range, range.of(departure), isOuter)
                : live.in(range).stream()
                    .mapToDouble(part -> move(part.range(), part.live(), isOuter))
                    .sum();
      } else {
        range.of(point).copy_(range.of(difference));
      }
      land(range, wasBehind);
      return squared;
    }
  }

  private double move(Range range, Tensor from, boolean isOuter) {
    var common = range.of(point);
    var way = range.of(difference);
    double distance;
    if (outer != null && isOuter) {
      distance = from.sub(common).sub_(way).norm().item_double();
      stepOuter(outer, range, common, way);
    } else {
      // The average itself is the new point, and the difference is of no further use.
      common.add_(way);
      distance = torch.sub_out(way, from, common).norm().item_double();
    }
    return distance * distance;
  }

  private void stepOuter(OuterOptimizer rule, Range range, Tensor common, Tensor way) {
    common.add_(way, new Scalar(rule.lr()));
    if (velocity != null) {
      var speed = range.of(velocity);
      speed.mul_(new Scalar(rule.momentum())).add_(way);
      common.add_(speed, new Scalar(rule.lr() * rule.momentum()));
    }
  }

  private void land(Range range, boolean wasBehind) {
    if (wasBehind && departure != null) {
      live.read(range, difference);
      var now = range.of(difference);
      var then = range.of(departure);
      if (range.isOfParameters()) {
        now.sub_(then).add_(range.of(point));
      } else {
        now.add_(fractionLeft(now, then).mul_(range.of(point).sub(then)));
      }
      live.write(range, difference);
    } else {
      live.write(range, point);
    }
  }

  /** Where nothing departed, all of the mean is taken in. */
  private static Tensor fractionLeft(Tensor now, Tensor then) {
    var nothing = then.eq(new Scalar(0));
    return now.div(then)
        .clamp_min_(new Scalar(0))
        .clamp_max_(new Scalar(1))
        .masked_fill_(nothing, new Scalar(1));
  }

  /** Takes the present parameters, which all ranks share, for the common ones. */
  void startHere() {
    ranges.stream().filter(Range::isOfParameters).forEach(range -> live.read(range, point));
  }

  /** Returns all parameters of this rank, as they lie. */
  List<Tensor> parameters() {
    return live.parameters();
  }

  /** Puts down, or takes up; what is in the background must have arrived. */
  void remember(RunState state) {
    rememberCommon("localsgd/point", point, state);
    if (velocity != null) {
      rememberCommon("localsgd/velocity", velocity, state);
    }
    if (departure != null) {
      rememberCommon("localsgd/difference", difference, state);
      state.own().tensor("localsgd/departure", departure);
      if (isSliced) {
        rememberArrived(state.own());
      }
    }
  }

  /** With slices of it elsewhere, what follows the parameters is not the same on all ranks. */
  private void rememberArrived(State own) {
    try (var _ = TensorScope.open()) {
      own.tensor("localsgd/arrived", ranges.getLast().of(difference));
    }
  }

  private void rememberCommon(String name, Tensor flat, RunState state) {
    if (isSliced) {
      live.remember(name, flat, state, levels.replica() == 0);
    } else {
      state.shared().tensor(name, flat);
    }
  }

  @Override
  public void close() {
    TensorScope.free(point);
    TensorScope.free(difference);
    TensorScope.free(departure);
    TensorScope.free(velocity);
    live.close();
  }
}
