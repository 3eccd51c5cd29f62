package dev.flotilla.optim;

import dev.flotilla.memory.Operator;
import dev.flotilla.settings.Setting;
import dev.flotilla.state.State;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import org.bytedeco.pytorch.Tensor;
import org.jspecify.annotations.Nullable;

/**
 * Stochastic gradient descent with momentum, as PyTorch writes it.
 *
 * <p>u ← m u + (g + λ w); w ← w − η u, or with Nesterov w ← w − η (g + λ w + m u).
 *
 * @param lr learning rate η
 * @param momentum factor m
 * @param nesterov whether to look ahead
 * @param weightDecay decay λ
 * @param scaleLr how η grows with the batch
 * @param baseBatch the batch for which η was found, or null without scaling
 */
public record Momentum(
    @Setting(doc = Rules.LR) double lr,
    @Setting(
            doc = "fraction of the velocity that is kept from update to update, in [0, 1)",
            def = "0.9")
        double momentum,
    @Setting(doc = "use Nesterov's momentum, which looks ahead along the velocity", def = "false")
        boolean nesterov,
    @Setting(doc = Rules.WEIGHT_DECAY, def = "0") double weightDecay,
    @Setting(doc = Rules.SCALE_LR, def = "none") LrScaling scaleLr,
    @Setting(doc = Rules.BASE_BATCH, def = "null") @Nullable Integer baseBatch)
    implements GroupRule {

  /** Checks the settings. */
  public Momentum {
    scaleLr
        .check(Rules.check(lr, weightDecay), baseBatch)
        .and(momentum >= 0 && momentum < 1, "momentum", "must be in [0, 1)", momentum)
        .and(!nesterov || momentum > 0, "nesterov", "needs a momentum greater than 0", momentum)
        .orThrow();
  }

  /** Returns momentum without scaling of the rate. */
  public Momentum(double lr, double momentum, boolean nesterov, double weightDecay) {
    this(lr, momentum, nesterov, weightDecay, LrScaling.NONE, null);
  }

  /** Returns momentum without look-ahead and decay. */
  public Momentum(double lr, double momentum) {
    this(lr, momentum, false, 0);
  }

  @Override
  public OptionalInt numbersPerParameter() {
    return OptionalInt.of(momentum == 0 ? 0 : 1);
  }

  @Override
  public Bound bind(List<ParameterGroup> groups) {
    return momentum == 0 ? descent(groups) : withVelocities(groups);
  }

  /** The fused operator takes no velocities where the momentum is zero. */
  private Bound descent(List<ParameterGroup> groups) {
    return new Sgd(lr, weightDecay, scaleLr, baseBatch).bind(groups);
  }

  private Bound withVelocities(List<ParameterGroup> groups) {
    return new BoundMomentum(this, groups.stream().map(group -> new GroupState(group, 1)).toList());
  }

  /**
   * Binds the rule to velocities that somebody else keeps, remembers and frees.
   *
   * @param velocities for each group, a tensor per slice
   */
  public Bound bind(List<ParameterGroup> groups, List<List<Tensor>> velocities) {
    if (momentum == 0) {
      return descent(groups);
    }
    List<GroupState> states = new ArrayList<>();
    for (int i = 0; i < groups.size(); i++) {
      states.add(new GroupState(groups.get(i), velocities.get(i)));
    }
    return new BoundMomentum(this, states);
  }

  private static final class BoundMomentum implements Bound {

    private final Momentum settings;
    private final Operator fused = new Operator("aten::_fused_sgd_");
    private final List<GroupState> groups;

    BoundMomentum(Momentum settings, List<GroupState> groups) {
      this.settings = settings;
      this.groups = groups;
    }

    @Override
    public void update(double lr) {
      update(lr, Operator.Absent.NONE);
    }

    @Override
    public boolean skipsOnDevice() {
      return true;
    }

    @Override
    public void updateUnless(Tensor found, double lr) {
      update(lr, found);
    }

    private void update(double lr, Object found) {
      for (var group : groups) {
        group.update(slices -> update(slices, group.values().weightDecay(), group.lr(lr), found));
      }
    }

    private void update(Packed slices, double weightDecay, double lr, Object found) {
      fused.call(
          slices.parameters(),
          slices.gradients(),
          slices.state(0),
          weightDecay,
          settings.momentum,
          lr,
          0.0,
          settings.nesterov,
          false,
          false,
          Operator.Absent.NONE,
          found);
    }

    @Override
    public void remember(State state) {
      GroupState.rememberAll(groups, 1, state.part("velocity"));
    }

    @Override
    public void close() {
      groups.forEach(GroupState::close);
      fused.close();
    }
  }
}
