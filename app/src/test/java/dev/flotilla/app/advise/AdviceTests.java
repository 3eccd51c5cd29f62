package dev.flotilla.app.advise;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.flotilla.app.doctor.Measured;
import dev.flotilla.app.doctor.Measured.Busy;
import dev.flotilla.app.doctor.Measured.Pair;
import dev.flotilla.config.Catalogue;
import dev.flotilla.config.Recipe;
import dev.flotilla.config.RunConfig;
import dev.flotilla.config.StepTrial.Result;
import dev.flotilla.config.StepTrial.Sent;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class AdviceTests {

  private static final LinkRate LINK = new LinkRate(0, 1e-7, Busy.UNKNOWN, "test");
  private static final long MIB = 1 << 20;

  /** A row that sends nothing, of two ranks with 10 samples each. */
  private static Prediction row(String name, String change, long mebibytes, double seconds) {
    var combination = new Combination(name, Map.of(), 1, Overlap.NONE, change);
    var trial = new Result(mebibytes * MIB, List.of(seconds), 0, 0, 1, 1, 10, new Sent(0, 0, 0, 0));
    return Prediction.of(combination, trial, LINK, 2);
  }

  private static final List<Prediction> ROWS =
      List.of(
          row("plain", "", 900, 0.4),
          row("a", "", 800, 0.2),
          row("b", "", 300, 0.3),
          row("c", "less exact", 200, 0.1));

  private static String best(long mebibytes, boolean allowsApproximate) {
    return new Advice(ROWS, mebibytes * MIB, allowsApproximate)
        .recommended()
        .map(it -> it.combination().name())
        .orElse("none");
  }

  @Test
  void theFastestThatFitsAndKeepsTheMathematicsIsRecommended() {
    assertThat(best(1000, false)).isEqualTo("a");
    assertThat(best(500, false)).isEqualTo("b");
    assertThat(best(250, false)).isEqualTo("none");
    assertThat(best(250, true)).isEqualTo("c");
    assertThat(best(1000, true)).isEqualTo("c");
  }

  @Test
  void twoPercentAreNotWorthOneMoreTechnique() {
    var rows = List.of(row("plain", "", 1, 0.4), row("more", "", 1, 0.393));
    assertThat(new Advice(rows, 2 * MIB, false).recommended()).contains(rows.getFirst());
  }

  @Test
  void timesAreComparedPerSample() {
    // 0.2 s for 2 ranks of 10 samples.
    assertThat(ROWS.get(1).perSample()).isCloseTo(0.01, within(1e-12));
    var merged = new Result(1, List.of(0.5), 0, 0, 1, 4, 10, new Sent(0, 0, 0, 0));
    var combination = new Combination("merged", Map.of(), 1, Overlap.NONE, "x");
    assertThat(Prediction.of(combination, merged, LINK, 2).perSample())
        .isCloseTo(0.5 / 80, within(1e-12));
  }

  @Test
  void theRecommendationIsExplained() {
    var advice = new Advice(ROWS, 1000 * MIB, false);

    assertThat(advice.explanation(LINK))
        .startsWith("Recommended: a, 10.000 ms per sample, 2.00 times as fast as plain. An update")
        .endsWith(
            "If the mathematics may change, c is 2.0 times as fast (less exact):"
                + " --allow-approximate.");
    assertThat(new Advice(ROWS, 500 * MIB, false).explanation(LINK))
        .contains("where plain does not fit (900 MiB of 500 MiB)");
    assertThat(new Advice(ROWS, MIB, false).explanation(LINK)).startsWith("Nothing that may be");
    assertThat(new Advice(ROWS, 1000 * MIB, true).explanation(LINK))
        .contains("It changes the mathematics (less exact)");
  }

  @Test
  void approximateOnesAreListedApart() {
    var text = AdviceText.of(new Advice(ROWS, 850 * MIB, false), Map.of("dgc", "needs momentum"));

    assertThat(text.lines().map(String::stripTrailing).filter(it -> !it.contains("ms/update")))
        .satisfiesExactly(
            it -> assertThat(it).isEqualTo("keeps the mathematics"),
            it -> assertThat(it).startsWith("  plain").endsWith("does not fit"),
            it -> assertThat(it).startsWith("* a"),
            it -> assertThat(it).startsWith("  b"),
            it -> assertThat(it).isEqualTo("approximate, not recommended"),
            it -> assertThat(it).startsWith("  c").endsWith("less exact"),
            it -> assertThat(it).isEqualTo("left out: dgc: needs momentum"));
  }

  @Test
  void aGivenLinkLosesWhatTcpNeeds() {
    var link = LinkRate.parse("100mbit", "0.2ms");
    // 12.5 MB/s, of which 1448 / 1514 are payload.
    assertThat(link.wire(12.5e6)).isCloseTo(1514 / 1448.0, within(1e-9));
    assertThat(link.latency()).isCloseTo(2e-4, within(1e-12));
    for (var wrong : List.of("fast", "100", "100mb", "0mbit", "-1mbit")) {
      assertThatThrownBy(() -> LinkRate.parse(wrong, "1ms"))
          .hasMessageContaining("--link: must be");
    }
    assertThatThrownBy(() -> LinkRate.parse("1gbit", "1")).hasMessageContaining("--latency");
  }

  @Test
  void aMeasuredLinkIsItsSlowestPairOrWhatAnAllReduceReached() {
    var pairs = List.of(new Pair(1, 0, 1e-4, 1e9), new Pair(2, 0, 2e-4, 8e7));
    var hosts = List.of("a", "b", "c");
    var clocks = List.of(0.0, 0.0, 0.0);

    var slow =
        LinkRate.of(
            new Measured(1, "", hosts, clocks, pairs, List.of(), 0, 1e-9, Busy.UNKNOWN), "");
    assertThat(slow.secondsPerByte()).isCloseTo(1e-7, within(1e-15));
    assertThat(slow.latency()).isCloseTo(2e-4, within(1e-12));
    // An all-reduce of three ranks passes 4/3 of the bytes on: 4e-7 a byte are 3e-7 a byte sent.
    var reduced =
        LinkRate.of(
            new Measured(1, "", hosts, clocks, pairs, List.of(), 8e-3, 4e-7, Busy.UNKNOWN), "");
    assertThat(reduced.secondsPerByte()).isCloseTo(3e-7, within(1e-15));
    assertThat(reduced.latency()).isCloseTo(2e-3, within(1e-12));
    assertThatThrownBy(
            () ->
                LinkRate.of(
                    new Measured(
                        1, "", List.of("a"), clocks, List.of(), List.of(), 0, 0, Busy.UNKNOWN),
                    ""))
        .hasMessageContaining("has no link in it");
  }

  @Test
  void combinationsDependOnRanksSegmentsAndBatch() {
    var names = Combinations.of(2, 5, 64, false).stream().map(Combination::name).toList();
    assertThat(names)
        .startsWith("plain", "overlap", "recompute", "merge", "sharding 1")
        .contains("sharding 3 + recompute", "amp", "dgc", "powersgd", "localsgd", "16-bit wire");
    assertThat(Combinations.of(1, 5, 64, false).stream().map(Combination::name))
        .containsExactly("plain", "recompute", "merge", "amp", "amp + recompute");
    assertThat(Combinations.of(2, 1, 7, false).stream().map(Combination::name))
        .doesNotContain("recompute", "merge");
  }

  @Test
  void whatChangesTheMathematicsIsNotExact() {
    var exact = Combinations.of(2, 5, 64, false).stream().filter(Combination::isExact).toList();
    assertThat(exact)
        .extracting(Combination::name)
        .containsExactly(
            "plain",
            "overlap",
            "recompute",
            "merge",
            "sharding 1",
            "sharding 2",
            "sharding 3",
            "sharding 3 + recompute");
    // Statistics of a quarter of the batch are others.
    assertThat(Combinations.of(2, 5, 64, true))
        .filteredOn(it -> it.name().equals("merge"))
        .extracting(Combination::change)
        .containsExactly("BatchNorm sees micro-batches of 16");
  }

  @Test
  void aWrittenRecipeReadsAsTheSame() {
    var yaml =
        """
        model: {name: mlp, inputs: 8, hidden: [16], classes: 4}
        data: {name: synthetic-images, channels: 1, side: 8, classes: 4, samples: 64}
        batch: 8
        optimizer: {name: momentum, lr: 0.1}
        strategy: {sharding: {stage: 2}, gradient_merge: {k_steps: 4}}
        freeze: ["fc1.*"]
        """;
    var config = RunConfig.read(Recipe.parse("a", yaml), Catalogue.installed());
    var text = RecipeText.of(config.resolved(), List.of("a comment"));

    assertThat(text).startsWith("# a comment\n");
    var again = RunConfig.read(Recipe.parse("b", text), Catalogue.installed());
    assertThat(new LinkedHashMap<>(again.resolved())).isEqualTo(config.resolved());
  }
}
