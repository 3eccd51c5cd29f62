package dev.flotilla.strategy.localsgd;

import dev.flotilla.collective.Traffic;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.state.RunState;
import java.util.List;
import java.util.Objects;
import org.bytedeco.pytorch.Tensor;
import org.jspecify.annotations.Nullable;

/** How what a rank has changed travels to the others, and the average of all comes back. */
final class Travel implements AutoCloseable {

  private final Levels levels;
  private final MeanWire wire;
  private final MeanWire exact;
  private @Nullable CommonPoint common;
  private double drift;

  /**
   * Prepares the wires.
   *
   * @param levels the groups, whose operations wait as long as the rounds ask for
   * @param parameters how many this rank averages
   */
  Travel(Averaging settings, Levels levels, long parameters) {
    this.levels = levels;
    wire = SplitWire.of(settings.wire(), levels, parameters);
    exact = new PlainWire(levels, Traffic.SCALAR);
  }

  /** Says what is averaged, once, before the first round. */
  void follow(CommonPoint values) {
    common = values;
  }

  CommonPoint common() {
    return Objects.requireNonNull(common);
  }

  List<Tensor> parameters() {
    return common().parameters();
  }

  /** Returns how far this rank's parameters were from the last average. */
  double drift() {
    return drift;
  }

  /**
   * Averages now.
   *
   * @param isOuter whether the outer optimizer is at work already
   */
  void average(boolean isOuter) {
    if (wire.takesPieces()) {
      averageByPieces(isOuter);
    } else {
      depart();
      wire.finish();
      arrive(isOuter, false);
    }
  }

  /** While a piece is on the wire, others are prepared and taken in. */
  private void averageByPieces(boolean isOuter) {
    var ranges = common().ranges();
    for (var range : ranges) {
      common().depart(range);
      try (var _ = TensorScope.open()) {
        wire.start(range.of(common().difference()));
      }
    }
    double squared = 0;
    for (var range : ranges) {
      wire.finishFirst();
      squared += common().arrive(range, isOuter, false);
    }
    drift = Math.sqrt(levels.overSlices(squared));
  }

  /** Sends this rank's way since the last average. */
  void depart() {
    common().ranges().forEach(common()::depart);
    wire.start(common().difference());
  }

  /** Does what can follow once the first half has arrived; all ranks call it together. */
  void advance() {
    wire.advance();
  }

  /** Takes in the average of what departed a round ago. */
  void arriveBehind() {
    wire.finish();
    arrive(true, true);
  }

  private void arrive(boolean isOuter, boolean wasBehind) {
    double squared =
        common().ranges().stream()
            .mapToDouble(range -> common().arrive(range, isOuter, wasBehind))
            .sum();
    drift = Math.sqrt(levels.overSlices(squared));
  }

  /** Replaces the parameters by their mean, whatever else is under way. */
  void averageExactly() {
    parameters().forEach(exact::start);
    exact.finish();
  }

  /** Waits for what is under way; it is not taken in yet. */
  void await() {
    wire.finish();
  }

  /** Puts down, or takes up; nothing may be under way. */
  void remember(RunState state) {
    drift = state.own().part("localsgd").real("drift", drift);
    common().remember(state);
    wire.remember(state);
  }

  @Override
  public void close() {
    wire.close();
    if (common != null) {
      common.close();
    }
  }
}
