package dev.flotilla.strategy.powersgd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.flotilla.arena.Layout;
import dev.flotilla.memory.Precision;
import dev.flotilla.model.Model;
import dev.flotilla.optim.Adam;
import dev.flotilla.settings.ConfigException;
import dev.flotilla.step.Claim;
import dev.flotilla.step.Claim.GradientStage;
import dev.flotilla.step.Phase;
import dev.flotilla.strategy.PlanFacts;
import dev.flotilla.strategy.PlanIssue;
import dev.flotilla.strategy.PlanRejectedException;
import dev.flotilla.strategy.StepPlanner;
import dev.flotilla.strategy.Strategy;
import dev.flotilla.strategy.clip.ClipByNorm;
import dev.flotilla.strategy.compress.Dgc;
import dev.flotilla.strategy.localsgd.LocalSgd;
import dev.flotilla.zoo.model.Mlp;
import java.util.List;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;

/** What a user reads before a run starts. */
class PowerSgdPlanTests {

  private static final Model MODEL = new Mlp(1024, List.of(128), 10);

  private static List<String> warnings(int ranks, Precision precision, Strategy... techniques) {
    var all = List.of(techniques);
    var layout = Layout.of(MODEL.parameters(), precision);
    var facts = new PlanFacts(ranks, new Adam(0.001), MODEL, layout, OptionalInt.empty(), all);
    return StepPlanner.plan(all, facts).warnings().stream().map(PlanIssue::toString).toList();
  }

  private static List<String> warnings(PowerSgd settings, int ranks) {
    return warnings(ranks, Precision.FLOAT32, settings);
  }

  @Test
  void allWrongSettingsAreNamedTogether() {
    assertThatThrownBy(() -> new PowerSgd(0, -1, true, -2))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining("rank: must be at least 1, but was 0")
        .hasMessageContaining("min_compression: must be at least 0, but was -1")
        .hasMessageContaining("start_step: must be at least 0, but was -2");
    assertThatThrownBy(() -> new PowerSgd(2).minCompression(Double.NaN))
        .hasMessageContaining("min_compression: must be at least 0, but was NaN");
  }

  @Test
  void adamAndBothPrecisionsAndClippingByNormArePermitted() {
    assertThat(warnings(2, Precision.FLOAT32, new PowerSgd(2), new ClipByNorm(1))).isEmpty();
    assertThat(warnings(2, Precision.FLOAT64, new PowerSgd(2))).isEmpty();
  }

  @Test
  void clippingByValueIsRefused() {
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
    assertThatThrownBy(() -> warnings(2, Precision.FLOAT32, new PowerSgd(2), byValue))
        .isInstanceOf(PlanRejectedException.class)
        .hasMessageContaining("clip_by_value changes single gradients after the exchange");
  }

  @Test
  void otherExchangesAreRefused() {
    assertThatThrownBy(() -> warnings(2, Precision.FLOAT32, new PowerSgd(2), new Dgc()))
        .hasMessageContaining("dgc and powersgd both decide the phase EXCHANGE");
    assertThatThrownBy(() -> warnings(2, Precision.FLOAT32, new PowerSgd(2), new LocalSgd(4)))
        .hasMessageContaining("there are no gradients on the wire that it could compress");
  }

  @Test
  void oneRankIsOneWarning() {
    assertThat(warnings(new PowerSgd(2), 1))
        .singleElement()
        .asString()
        .contains("powersgd has no effect on one rank");
  }

  @Test
  void nothingToCompressIsAWarning() {
    assertThat(warnings(new PowerSgd(100), 2))
        .singleElement()
        .asString()
        .contains("no matrix is 2.0 times as large as factors of rank 100");
  }

  /** 128 x 1024 and 10 x 128, at ranks 128 and 10. */
  @Test
  void factorsThatAreLargerThanTheirMatrixAreAWarningWithNumbers() {
    assertThat(warnings(new PowerSgd(128).minCompression(0), 2))
        .singleElement()
        .asString()
        .contains(
            "powersgd cannot pay: each of 2 ranks sends 595.9 kB per update instead of 530.0 kB");
  }

  /** 128 x 1024 is sent as factors; 10 x 128 would be 4.6 times as large as its own. */
  @Test
  void onlyWhatGainsEnoughIsSentAsFactors() {
    var layout = Layout.of(MODEL.parameters(), Precision.FLOAT32);
    var cost = FactorCost.of(layout, new PowerSgd(2).minCompression(5), 4);
    assertThat(cost.matrices()).isEqualTo(1);
    assertThat(cost.sentBytes()).isEqualTo(1.5 * 4 * (2 * (128 + 1024) + 1280 + 138));
    assertThat(cost.denseBytes()).isEqualTo(1.5 * 4 * (131_072 + 1280 + 138));
    assertThat(FactorCost.of(layout, new PowerSgd(2), 4).matrices()).isEqualTo(2);
  }
}
