package dev.flotilla.strategy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.flotilla.arena.Layout;
import dev.flotilla.memory.Precision;
import dev.flotilla.model.Model;
import dev.flotilla.model.Objective;
import dev.flotilla.model.Segment;
import dev.flotilla.optim.Sgd;
import dev.flotilla.step.Claim;
import dev.flotilla.step.Claim.ExchangePart;
import dev.flotilla.step.Claim.GradientStage;
import dev.flotilla.step.Phase;
import java.util.List;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;

class StepPlannerTests {

  private static final PlanFacts FACTS =
      new PlanFacts(
          2,
          new Sgd(0.1),
          new NoModel(),
          Layout.of(List.of(), Precision.FLOAT32),
          OptionalInt.empty(),
          List.of());

  private record NoModel() implements Model {
    @Override
    public String name() {
      return "none";
    }

    @Override
    public List<Segment> segments() {
      return List.of();
    }

    @Override
    public Objective objective() {
      throw new UnsupportedOperationException();
    }
  }

  private static Strategy technique(String key, Claim... claims) {
    return new Strategy() {
      @Override
      public String key() {
        return key;
      }

      @Override
      public List<Claim> claims() {
        return List.of(claims);
      }
    };
  }

  private static Claim windows(String does) {
    return new Claim(Phase.ACCUMULATION, does);
  }

  private static Claim refine(GradientStage stage, String does) {
    return new Claim(Phase.REFINE, stage, does);
  }

  @Test
  void withoutTechniquesEveryPhaseHasItsDefault() {
    var plan = StepPlanner.plan(List.of(), FACTS);
    for (var phase : Phase.values()) {
      assertThat(plan.step().describe(phase)).isEqualTo(phase.byDefault());
    }
  }

  @Test
  void aConflictNamesBothTechniquesAndThePhase() {
    var a = technique("a_merge", windows("a"));
    var b = technique("b_merge", windows("b"));
    assertThatThrownBy(() -> StepPlanner.plan(List.of(b, a), FACTS))
        .isInstanceOf(PlanRejectedException.class)
        .hasMessageContaining("1. a_merge and b_merge both decide the phase ACCUMULATION")
        .hasMessageContaining("remove all but one");
  }

  @Test
  void aConflictOfThreeIsNotCalledOneOfBoth() {
    var all =
        List.of(
            technique("c", windows("c")),
            technique("a", windows("a")),
            technique("b", windows("b")));
    assertThatThrownBy(() -> StepPlanner.plan(all, FACTS))
        .hasMessageContaining("1. a, b and c all decide the phase ACCUMULATION");
  }

  @Test
  void sumsAndTheNumbersOfTheirWireHaveAnOwnerEach() {
    var sums = technique("sums", new Claim(ExchangePart.SUMS, "sums"));
    var numbers = technique("numbers", new Claim(ExchangePart.NUMBERS, "halves"));
    assertThat(described(sums, numbers)).isEqualTo("sums, halves");
    assertThat(described(sums)).isEqualTo("sums");
    assertThat(described(numbers)).isEqualTo("dense mean, halves");

    var all = technique("all", new Claim(Phase.EXCHANGE, "all"));
    var other = technique("other", new Claim(ExchangePart.NUMBERS, "bytes"));
    assertThatThrownBy(() -> described(all, sums))
        .hasMessageContaining("all and sums both decide the phase EXCHANGE");
    assertThatThrownBy(() -> described(numbers, all))
        .hasMessageContaining("all and numbers both decide the phase EXCHANGE");
    assertThatThrownBy(() -> described(numbers, sums, other))
        .hasMessageContaining("numbers and other both decide the phase EXCHANGE");
  }

  private static String described(Strategy... techniques) {
    return StepPlanner.plan(List.of(techniques), FACTS).step().describe(Phase.EXCHANGE);
  }

  @Test
  void theOrderOfListingNeverMatters() {
    var clip = technique("a_clip", refine(GradientStage.CLIP, "clip"));
    var unscale = technique("b_scale", refine(GradientStage.UNSCALE, "unscale"));
    var one = StepPlanner.plan(List.of(clip, unscale), FACTS).step().describe(Phase.REFINE);
    var other = StepPlanner.plan(List.of(unscale, clip), FACTS).step().describe(Phase.REFINE);
    assertThat(one).isEqualTo(other).isEqualTo("unscale, then clip");
  }

  @Test
  void aTechniqueListedTwiceIsRefused() {
    var clip = technique("clip", refine(GradientStage.CLIP, "clip"));
    assertThatThrownBy(() -> StepPlanner.plan(List.of(clip, clip), FACTS))
        .hasMessageContaining("clip is listed twice");
  }

  @Test
  void allErrorsAreReportedTogetherAndWarningsDoNotRefuse() {
    var bad =
        new Strategy() {
          @Override
          public String key() {
            return "bad";
          }

          @Override
          public List<Claim> claims() {
            return List.of();
          }

          @Override
          public List<PlanIssue> issues(PlanFacts facts) {
            return List.of(
                PlanIssue.error("first", "fix one"),
                PlanIssue.warning("useless on " + facts.ranks() + " ranks", ""),
                PlanIssue.error("second", "fix two"));
          }
        };
    assertThatThrownBy(() -> StepPlanner.plan(List.of(bad), FACTS))
        .isInstanceOfSatisfying(PlanRejectedException.class, e -> assertThat(e.issues()).hasSize(2))
        .hasMessageContaining("2. second (fix two)");
  }
}
