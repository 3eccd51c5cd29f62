package dev.flotilla.optim;

import dev.flotilla.memory.ComputeDevice;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.optim.Packed.Piece;
import dev.flotilla.state.State;
import java.util.ArrayList;
import java.util.List;
import org.bytedeco.pytorch.Scalar;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;
import org.jspecify.annotations.Nullable;

/**
 * A rule by which each parameter has a rate of its own, from two norms: its own, and that of what
 * it would be moved by.
 *
 * <p>Two passes over the elements. The first one adds up squares of what is here of each parameter;
 * ranks that hold slices add up theirs, in one small collective, so that a parameter has the norm
 * that it has whole.
 */
final class LayerwiseRule implements Optimizer.Bound {

  /** What a rule computes with the norms. */
  interface Formula {

    /** Renews what is remembered, before norms are taken. */
    default void prepare(Piece piece, GroupValues group) {}

    /** Returns what is measured besides the parameter; not to be changed. */
    Tensor measured(Piece piece, GroupValues group, long update);

    /** Returns the ratio of each parameter of a group. */
    Tensor ratio(Norms norms, GroupValues group, double lr);

    /**
     * Updates a piece.
     *
     * @param ratio of its parameter; null where it is not adapted
     */
    void apply(Piece piece, @Nullable Tensor ratio, GroupValues group, double lr, long update);
  }

  /**
   * Norms of the parameters of a group.
   *
   * @param parameters theirs, one each
   * @param measured of what they would be moved by
   */
  record Norms(Tensor parameters, Tensor measured) {

    /** Puts 1 where a parameter or what would move it is zero. */
    Tensor oneWhereZero(Tensor ratio) {
      var zero = new Scalar(0.0);
      return ratio.masked_fill_(
          parameters.eq(zero).logical_or_(measured.eq(zero)), new Scalar(1.0));
    }
  }

  /** A group and its row in the tensor of squares. */
  private record Member(GroupState state, ParameterGroup group, boolean isAdapted, int row) {}

  private final int kinds;
  private final Formula formula;
  private final SumOverRanks ranks;
  private final List<Member> members = new ArrayList<>();
  private final Tensor squares;
  private final UpdateNumbers numbers;

  /**
   * Allocates the rule's memory.
   *
   * @param kinds numbers that the rule remembers for each parameter
   * @param alwaysAdapts whether parameters without decay have a ratio too
   */
  LayerwiseRule(
      List<ParameterGroup> groups,
      int kinds,
      boolean alwaysAdapts,
      Formula formula,
      SumOverRanks ranks) {
    this.kinds = kinds;
    this.formula = formula;
    this.ranks = ranks;
    int rows = 0;
    for (var group : groups) {
      boolean isAdapted = alwaysAdapts || group.weightDecay() != 0;
      members.add(new Member(new GroupState(group, kinds), group, isAdapted, rows));
      rows += isAdapted ? group.parameters().size() : 0;
    }
    var states = members.stream().map(Member::state).toList();
    numbers = new UpdateNumbers(states, ComputeDevice.CPU, torch.ScalarType.Double);
    var device = groups.isEmpty() ? ComputeDevice.CPU : groups.getFirst().memory().device();
    try (var _ = TensorScope.open()) {
      squares = TensorScope.keep(device.zeros(torch.ScalarType.Double, 2, rows));
    }
  }

  @Override
  public void update(double lr) {
    numbers.next();
    squares.zero_();
    members.forEach(this::measure);
    if (squares.numel() > 0) {
      ranks.add(squares);
    }
    members.forEach(member -> apply(member, lr));
  }

  private void measure(Member member) {
    long update = numbers.number(member.group.values());
    member.state.update(
        slices ->
            slices.forEach(
                member.group.parameters(),
                (piece, parameter) -> {
                  formula.prepare(piece, member.group.values());
                  if (member.isAdapted) {
                    int row = member.row + parameter;
                    addSquares(0, row, piece.parameter());
                    addSquares(1, row, formula.measured(piece, member.group.values(), update));
                  }
                }));
  }

  private void addSquares(int which, int row, Tensor values) {
    squares
        .select(0, which)
        .select(0, row)
        .add_(values.norm().to(torch.ScalarType.Double).square_());
  }

  private void apply(Member member, double lr) {
    var group = member.group.values();
    long update = numbers.number(group);
    double rate = member.group.lr(lr);
    try (var _ = TensorScope.open()) {
      var ratios = member.isAdapted ? formula.ratio(norms(member), group, rate) : null;
      member.state.update(
          slices ->
              slices.forEach(
                  member.group.parameters(),
                  (piece, parameter) ->
                      formula.apply(
                          piece,
                          ratios == null ? null : ratios.select(0, parameter),
                          group,
                          rate,
                          update)));
    }
  }

  private Norms norms(Member member) {
    var norms = squares.narrow(1, member.row, member.group.parameters().size()).sqrt();
    return new Norms(norms.select(0, 0), norms.select(0, 1));
  }

  @Override
  public void remember(State state) {
    numbers.remember(state);
    GroupState.rememberAll(
        members.stream().map(Member::state).toList(), kinds, state.part("memory"));
  }

  @Override
  public void close() {
    members.forEach(member -> member.state.close());
    TensorScope.free(squares);
    numbers.close();
  }
}
