package dev.flotilla.strategy.compress;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.flotilla.arena.Layout;
import dev.flotilla.memory.Precision;
import dev.flotilla.model.Model;
import dev.flotilla.optim.Adam;
import dev.flotilla.optim.AdamW;
import dev.flotilla.optim.Momentum;
import dev.flotilla.optim.Optimizer;
import dev.flotilla.settings.ConfigException;
import dev.flotilla.step.Claim;
import dev.flotilla.step.Claim.GradientStage;
import dev.flotilla.step.Phase;
import dev.flotilla.strategy.PlanFacts;
import dev.flotilla.strategy.PlanIssue;
import dev.flotilla.strategy.PlanRejectedException;
import dev.flotilla.strategy.StepPlanner;
import dev.flotilla.strategy.Strategy;
import dev.flotilla.zoo.model.Mlp;
import java.util.List;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a user reads before a compressed run starts. */
class DgcPlanTests {

  private static final Model MODEL = new Mlp(1024, List.of(128), 10);

  private static PlanFacts facts(int ranks, Optimizer optimizer, Precision precision) {
    var layout = Layout.of(MODEL.parameters(), precision);
    return new PlanFacts(ranks, optimizer, MODEL, layout, OptionalInt.empty(), List.of(new Dgc()));
  }

  private static List<String> warnings(Dgc settings, int ranks) {
    var facts = facts(ranks, new Momentum(0.1, 0.9), Precision.FLOAT32);
    return StepPlanner.plan(List.of(settings), facts).warnings().stream()
        .map(PlanIssue::toString)
        .toList();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "1.0 | sparsity: must be fractions in [0, 1), such as 0.999 to send a thousandth, but was",
        "1.2 | sparsity: must be fractions in [0, 1), such as 0.999 to send a thousandth, but was",
        "-0.1 | sparsity: must be fractions in [0, 1), such as 0.999 to send a thousandth, but was",
        "NaN | sparsity: must be fractions in [0, 1), such as 0.999 to send a thousandth, but was",
      })
  void fractionsOutsideOfTheRangeAreRefused(double fraction, String expected) {
    assertThatThrownBy(() -> new Dgc(0, 1, List.of(0.5, fraction)))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining(expected + " [0.5, " + fraction + "]");
  }

  @Test
  void allWrongSettingsAreNamedTogether() {
    assertThatThrownBy(() -> new Dgc(-1, 0, List.of()).minNumel(0))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining("rampup_begin_step: must be at least 0, but was -1")
        .hasMessageContaining("rampup_step: must be at least 1, but was 0")
        .hasMessageContaining("sparsity: must name at least one fraction, but was []");
    assertThatThrownBy(() -> new Dgc().minNumel(0))
        .hasMessageContaining("min_numel: must be at least 1, but was 0");
  }

  @Test
  void adamIsRefusedWithTheReasonAndTheWayOut() {
    for (var optimizer : List.of(new Adam(0.001), new AdamW(0.001))) {
      var facts = facts(2, optimizer, Precision.FLOAT32);
      assertThatThrownBy(() -> StepPlanner.plan(List.of(new Dgc()), facts))
          .isInstanceOf(PlanRejectedException.class)
          .hasMessageContaining("dgc keeps the momentum inside its residuals")
          .hasMessageContaining(optimizer.getClass().getSimpleName())
          .hasMessageContaining("use optimizer: momentum or sgd");
    }
  }

  @Test
  void float64IsRefused() {
    var facts = facts(2, new Momentum(0.1, 0.9), Precision.FLOAT64);
    assertThatThrownBy(() -> StepPlanner.plan(List.of(new Dgc()), facts))
        .hasMessageContaining("dgc sends float32, but precision is float64");
  }

  @Test
  void clippingByValueIsRefusedAndByNormIsNot() {
    var byValue =
        new Strategy() {
          @Override
          public String key() {
            return "clip_by_value";
          }

          @Override
          public List<Claim> claims() {
            return List.of(new Claim(Phase.REFINE, GradientStage.CLIP, "clip values"));
          }
        };
    var facts = facts(2, new Momentum(0.1, 0.9), Precision.FLOAT32);
    assertThatThrownBy(() -> StepPlanner.plan(List.of(new Dgc(), byValue), facts))
        .isInstanceOf(PlanRejectedException.class)
        .hasMessageContaining("clip_by_value changes single gradients after the exchange")
        .hasMessageContaining("clip: {norm: …}");
    var byNorm = new dev.flotilla.strategy.clip.ClipByNorm(1);
    assertThat(StepPlanner.plan(List.of(new Dgc(), byNorm), facts).warnings()).isEmpty();
  }

  @Test
  void oneRankIsOneWarning() {
    assertThat(warnings(new Dgc(), 1))
        .singleElement()
        .asString()
        .contains("dgc has no effect on one rank")
        .contains("plain optimizer");
  }

  @Test
  void fallingFractionsAreAWarning() {
    assertThat(warnings(new Dgc(0, 10, List.of(0.99, 0.9)), 2))
        .singleElement()
        .asString()
        .contains("dgc.sparsity falls in [0.99, 0.9]");
    assertThat(warnings(new Dgc(0, 10, List.of(0.9, 0.99)), 2)).isEmpty();
  }

  @Test
  void tooManyRanksForTheSparsityAreAWarningWithNumbers() {
    assertThat(warnings(new Dgc(0, 1, List.of(0.75)), 3)).isEmpty();
    assertThat(warnings(new Dgc(0, 1, List.of(0.75)), 8))
        .singleElement()
        .asString()
        .contains("dgc cannot pay: each of 8 ranks sends")
        .contains("break-even at 4 ranks");
    assertThat(warnings(new Dgc(0, 100, List.of(0.75, 0.999)), 8))
        .singleElement()
        .asString()
        .contains("at sparsity 0.75 dgc sends more than it saves")
        .contains("break-even at 4 ranks");
  }

  @Test
  void nothingToCompressIsAWarning() {
    assertThat(warnings(new Dgc().minNumel(1 << 20), 2))
        .singleElement()
        .asString()
        .contains("no parameter has min_numel 1048576 elements");
  }

  /** 131,072 and 1,280 weights, 138 biases: the first is compressed, the rest is not. */
  @Test
  void theCostModelCountsWhatRanksSend() {
    var layout = Layout.of(MODEL.parameters(), Precision.FLOAT32);
    var cost = LinkCost.of(layout, new Dgc(), 0.999, 2);
    assertThat(cost.denseBytes()).isEqualTo(4 * (131_072 + 1_280 + 138));
    assertThat(cost.sparseBytes()).isBetween(8.0 * 131 + 4 * 1_418, 8.0 * 132 + 4 * 1_418);
    assertThat(cost.breakEvenRanks()).isBetween(999.0, 1001.0);
    assertThat(cost.denseSeconds(1e6)).isEqualTo(cost.denseBytes() / 1e6);
  }
}
