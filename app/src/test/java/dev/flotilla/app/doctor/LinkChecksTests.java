package dev.flotilla.app.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.app.doctor.Measured.Busy;
import dev.flotilla.app.doctor.Measured.Pair;
import java.net.InetAddress;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.FutureTask;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LinkChecksTests {

  private static Measured measured(List<Double> clocks, List<String> failures, Pair... pairs) {
    return new Measured(
        1, "", List.of("a", "a", "b"), clocks, List.of(pairs), failures, 1e-4, 1e-8, Busy.UNKNOWN);
  }

  private static Measured links(Pair... pairs) {
    return measured(List.of(0.0, 0.0, 0.0), List.of(), pairs);
  }

  @Test
  void clocksThatAreHalfASecondApartAreWarnedOf() {
    assertThat(LinkChecks.clocks(measured(List.of(0.0, 0.4, -0.3), List.of())).level())
        .isEqualTo(Level.OK);
    var late = LinkChecks.clocks(measured(List.of(0.0, 0.4, -0.7), List.of()));
    assertThat(late.level()).isEqualTo(Level.WARNING);
    assertThat(late.seen()).isEqualTo("-0.700 s between rank 0 and rank 2");
  }

  @Test
  void aLinkThatIsHalfAsFastAsTheOthersIsNamed() {
    var finding =
        LinkChecks.bandwidth(
            links(new Pair(1, 0, 0, 4e9), new Pair(2, 0, 0, 4e9), new Pair(2, 1, 0, 1.9e9)));

    assertThat(finding.level()).isEqualTo(Level.WARNING);
    assertThat(finding.seen())
        .isEqualTo(
            "4.0 Gbit/s in the median of 3 pairs, at least 1.9 Gbit/s from rank 2 to rank 1");
  }

  @Test
  void aSlowLinkSaysWhatItCostsAnUpdate() {
    // 4 MB are 32 Mbit: 320 ms at 100 Mbit/s.
    assertThat(LinkChecks.bandwidth(links(new Pair(1, 0, 0, 1e8))).meaning())
        .isEqualTo("gradients of a million parameters in float32 take 320 ms per update");
    assertThat(LinkChecks.bandwidth(links(new Pair(1, 0, 0, 1e9))).level()).isEqualTo(Level.OK);
  }

  @Test
  void anAllReduceSaysWhatItIsWhileCoresCompute() {
    assertThat(LinkChecks.allReduce(links()).seen())
        .isEqualTo("0.100 ms + 10.000 ms per MB over 3 ranks");
    // Of three ranks each sends 4/3 of the bytes: 10 ns a byte are 7.5 ns a byte sent.
    var busy =
        new Measured(
            1,
            "",
            List.of("a", "a", "b"),
            List.of(),
            List.of(),
            List.of(),
            1e-4,
            1e-8,
            new Busy(1.5e-8, 3e-9));
    assertThat(LinkChecks.allReduce(busy).seen())
        .isEqualTo(
            "0.100 ms + 10.000 ms per MB over 3 ranks; while all cores compute 2.0 times as long,"
                + " and 20 % of computing is lost");
    assertThat(Measured.of(busy.json())).isEqualTo(busy);
  }

  @Test
  void aLongWayIsWarnedOf() {
    assertThat(LinkChecks.latency(links(new Pair(1, 0, 0.0049, 1e9))).level()).isEqualTo(Level.OK);
    assertThat(LinkChecks.latency(links(new Pair(1, 0, 0.006, 1e9))).level())
        .isEqualTo(Level.WARNING);
  }

  @Test
  void ranksThatDoNotReachEachOtherAreAnError() {
    var findings = LinkChecks.all(measured(List.of(0.0, 0.0, 0.0), List.of("rank 2 and rank 0 …")));

    assertThat(findings)
        .filteredOn(it -> it.level() == Level.ERROR)
        .extracting(Finding::check)
        .containsExactly("links");
  }

  @Test
  void whatWasMeasuredSurvivesJson() {
    var all = measured(List.of(0.0, 0.25, -1.5), List.of("x"), new Pair(2, 1, 0.001, 1e8));

    assertThat(Measured.of(all.json())).isEqualTo(all);
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 3, 4, 7, 12, 13, 40, 64})
  void eachRankHasOnePartnerInARound(int ranks) {
    Set<Set<Integer>> met = new HashSet<>();
    var rounds = Pairing.rounds(ranks);
    for (var round : rounds) {
      for (int rank = 0; rank < ranks; rank++) {
        int other = round[rank];
        if (other != Pairing.NOBODY) {
          assertThat(other).isNotEqualTo(rank);
          assertThat(round[other]).isEqualTo(rank);
          met.add(Set.of(rank, other));
        }
      }
    }
    // All pairs of few ranks, and of many at most 12 for each of them.
    int all = ranks * (ranks - 1) / 2;
    assertThat(met.size()).isEqualTo(ranks <= 12 ? all : 12 * (ranks / 2));
    assertThat(rounds.size()).isLessThanOrEqualTo(12);
  }

  @Test
  void clocksAreComparedByTheMedianOfBarriers() {
    var first = List.of(1_000_000L, 2_000_000L, 3_000_000L);
    // Late once, by four seconds; otherwise half a second behind.
    var second = List.of(500_000L, 6_000_000L, 2_500_000L);

    assertThat(ClockOffsets.of(List.of(first, second))).containsExactly(0.0, -0.5);
  }

  @Test
  void twoRanksMeasureTheirLinkAndSendStrangersAway() throws Exception {
    var here = InetAddress.getLoopbackAddress();
    try (var low = new LinkMeter(0, here);
        var high = new LinkMeter(1, here)) {
      var stranger = low.place().replaceFirst("[0-9a-f]{32}$", "0".repeat(32));
      var wrong = new LinkMeter(1, here);
      var refused = new FutureTask<>(() -> wrong.with(0, stranger));
      Thread.ofVirtual().start(refused);
      var answer = new FutureTask<>(() -> low.with(1, ""));
      Thread.ofVirtual().start(answer);
      var pair = Objects.requireNonNull(high.with(0, low.place()));

      assertThat(answer.get()).isNull();
      assertThat(pair.from()).isEqualTo(1);
      assertThat(pair.to()).isZero();
      assertThat(pair.latency()).isPositive();
      assertThat(pair.bitsPerSecond()).isGreaterThan(1e6);
      assertThat(refused).failsWithin(java.time.Duration.ofSeconds(10));
      wrong.close();
    }
  }

  @Test
  void fewRanksGetATable() {
    var table = DoctorText.table(links(new Pair(1, 0, 0.0005, 1e8), new Pair(2, 1, 0.001, 1e9)));

    assertThat(table.lines().map(String::strip).collect(Collectors.toList()))
        .containsExactly(
            "Mbit/s, and ms one way, from the rank of the row:",
            "to rank 0       to rank 1",
            "rank 1        100 0.500",
            "rank 2                -      1000 1.000");
  }
}
