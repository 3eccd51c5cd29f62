package dev.flotilla.optim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.flotilla.memory.ComputeDevice;
import dev.flotilla.memory.StateMemory;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.optim.ParameterGroup.Extent;
import dev.flotilla.optim.ParameterGroup.Slice;
import dev.flotilla.settings.ConfigException;
import dev.flotilla.settings.Problem;
import dev.flotilla.state.State;
import java.util.List;
import java.util.stream.Stream;
import org.bytedeco.pytorch.Scalar;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Parameters with settings of their own, and what is wrong with patterns. */
class GroupsTests {

  private static final List<String> NAMES =
      List.of("fc1.weight", "fc1.bias", "fc2.weight", "fc2.bias");

  /** An optimizer, and the one whose settings a group states. */
  record Pair(Optimizer optimizer, Optimizer asStated, GroupValues values) {
    @Override
    public String toString() {
      return optimizer.getClass().getSimpleName();
    }
  }

  static Stream<Pair> pairs() {
    var usual = List.of(0.9, 0.999);
    var own = List.of(0.7, 0.8);
    var rates = new GroupValues(0.25, 0.5, null);
    var all = new GroupValues(0.25, 0.5, own);
    return Stream.of(
        new Pair(new Sgd(0.5, 0), new Sgd(0.25, 0.25), rates),
        new Pair(new Momentum(0.5, 0.9, true, 0), new Momentum(0.25, 0.9, true, 0.25), rates),
        new Pair(new Adam(0.5, usual, 1e-8, 0), new Adam(0.25, own, 1e-8, 0.25), all),
        new Pair(new AdamW(0.5, usual, 1e-8, 0), new AdamW(0.25, own, 1e-8, 0.25), all),
        new Pair(
            new RmsProp(0.5, 0.9, 1e-8, 0.5, true, 0),
            new RmsProp(0.25, 0.9, 1e-8, 0.5, true, 0.25),
            rates),
        new Pair(new Adagrad(0.5, 0.1, 0, 1e-8, 0), new Adagrad(0.25, 0.1, 0, 1e-8, 0.25), rates),
        new Pair(
            new Lamb(0.5, usual, 1e-8, 0, true, false),
            new Lamb(0.25, own, 1e-8, 0.25, true, false),
            all),
        new Pair(
            new Lars(0.5, 0.9, false, 0.5, 1e-8, 0, true, true),
            new Lars(0.25, 0.9, false, 0.5, 1e-8, 0.25, true, true),
            rates),
        new Pair(new Lion(0.5, usual, 0), new Lion(0.25, own, 0.25), all));
  }

  @ParameterizedTest
  @MethodSource("pairs")
  void aGroupGoesAsAnOptimizerWithItsSettings(Pair pair) {
    try (var _ = TensorScope.open()) {
      torch.manual_seed(2);
      var start = torch.randn(40);
      var grouped = new Slice(start.clone(), torch.zeros(40), 0);
      var alone = new Slice(start.clone(), grouped.gradient(), 0);
      double decay = pair.asStated().weightDecay();
      try (var ours = pair.optimizer().bind(List.of(group(grouped, pair.values())));
          var theirs =
              pair.asStated().bind(List.of(group(alone, GroupValues.ofWeightDecay(decay))))) {
        for (int step = 0; step < 5; step++) {
          grouped.gradient().copy_(torch.randn(40));
          ours.update(pair.optimizer().lr());
          theirs.update(pair.asStated().lr());
        }
      }
      assertThat(grouped.parameter().equal(alone.parameter())).isTrue();
      assertThat(grouped.parameter().equal(start)).isFalse();
    }
  }

  private static ParameterGroup group(Slice slice, GroupValues values) {
    return new ParameterGroup(
        List.of(slice),
        List.of(new Extent(0, 24), new Extent(24, 16)),
        values,
        StateMemory.on(ComputeDevice.CPU));
  }

  private static List<String> problems(Optimizer optimizer, GroupSettings... groups) {
    return new Groups(List.of(groups), 1)
        .problems(optimizer, NAMES).stream().map(Problem::toString).toList();
  }

  @Test
  void patternsThatMatchNothingAreNamed() {
    assertThat(problems(new Sgd(1), GroupSettings.ofLr(0.1, "fc1.*", "fc3.*")))
        .containsExactly(
            "groups[0].match: 'fc3.*' matches none of the trained parameters [fc1.weight,"
                + " fc1.bias, fc2.weight, fc2.bias]");
  }

  @Test
  void groupsThatOverlapAreNamedWithTheirParameters() {
    assertThat(
            problems(
                new Sgd(1),
                GroupSettings.ofLr(0.1, "fc1.*"),
                GroupSettings.ofWeightDecay(0, "*.bias")))
        .containsExactly(
            "groups[1].match: [*.bias] and [fc1.*] of groups[0] both match [fc1.bias] (a parameter"
                + " belongs to one group: make one of the patterns narrower)");
  }

  @Test
  void betasNeedAnOptimizerThatHasThem() {
    var group = new GroupSettings(List.of("fc1.*"), null, null, List.of(0.9, 0.95));
    assertThat(problems(new Momentum(1, 0.9), group))
        .containsExactly("groups[0].betas: Momentum has no betas (remove them)");
    assertThat(problems(new Lion(1), group)).isEmpty();
  }

  /** A rule that does not know of rates of groups would leave them out in silence. */
  @Test
  void ratesNeedAnOptimizerThatTakesThem() {
    assertThat(problems(new Ascent(1), GroupSettings.ofWeightDecay(0, "*.bias"))).isEmpty();
    assertThat(problems(new Ascent(1), GroupSettings.ofLr(0.1, "*.bias")))
        .containsExactly(
            "groups: Ascent has one learning rate for all parameters, and freezes none (state"
                + " weight_decay alone, or take one of Flotilla's own optimizers)");
    assertThat(new Groups(List.of(), 0.5).problems(new Ascent(1), NAMES))
        .extracting(Problem::key)
        .containsExactly("layer_decay");
  }

  private record Ascent(double lr) implements Optimizer {

    @Override
    public double weightDecay() {
      return 0;
    }

    @Override
    public Bound bind(List<ParameterGroup> groups) {
      return new Bound() {
        @Override
        public void update(double lr) {}

        @Override
        public void remember(State state) {}

        @Override
        public void close() {}
      };
    }
  }

  @Test
  void badNumbersAreRefusedAllAtOnce() {
    assertThatThrownBy(() -> new GroupSettings(List.of(), -1.0, -1.0, List.of(1.0), -1))
        .isInstanceOfSatisfying(ConfigException.class, e -> assertThat(e.problems()).hasSize(5));
    assertThatThrownBy(() -> new GroupSettings(List.of("a"), null, null, null))
        .hasMessageContaining("must state lr, weight_decay, betas or frozen_epochs");
    assertThatThrownBy(() -> new Groups(List.of(), 1.5))
        .hasMessageContaining("layer_decay: must be in (0, 1], but was 1.5");
    assertThatThrownBy(() -> new Lars(1, 0)).hasMessageContaining("without either no parameter");
    assertThatThrownBy(() -> new RmsProp(0, 1, 0, 1, false, -1))
        .isInstanceOfSatisfying(ConfigException.class, e -> assertThat(e.problems()).hasSize(5));
  }

  /** Rows of a tensor are no parameters: two of them in one slice have norms of their own. */
  @Test
  void aSliceThatHoldsTwoParametersHasTwoNorms() {
    try (var _ = TensorScope.open()) {
      Tensor values = torch.ones(40);
      values.narrow(0, 24, 16).mul_(new Scalar(100.0));
      var slice = new Slice(values, torch.ones(40), 0);
      var rule = new Lars(1, 0, false, 1, 1e-12, 0, false, true);
      try (var bound = rule.bind(List.of(group(slice, GroupValues.ofWeightDecay(0))))) {
        bound.update(0.5);
      }
      // w − η ‖w‖ / ‖g‖ g halves both.
      assertThat(values.select(0, 0).item_double()).isEqualTo(0.5);
      assertThat(values.select(0, 39).item_double()).isEqualTo(50);
    }
  }
}
