package dev.flotilla.arena;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.flotilla.memory.Precision;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.model.ParameterSpec;
import dev.flotilla.model.Shape;
import java.util.List;
import java.util.Objects;
import org.bytedeco.pytorch.Scalar;
import org.bytedeco.pytorch.global.torch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class ArenaTests {

  private static final List<ParameterSpec> SPECS =
      List.of(
          ParameterSpec.weight("a.weight", Shape.of(3, 5), 5),
          ParameterSpec.bias("a.bias", 3, 5),
          ParameterSpec.weight("unused.weight", Shape.of(2), 2));

  private static final Layout LAYOUT = Layout.of(SPECS, Precision.FLOAT32);

  @Test
  void alignsEveryParameterAndCoversAll() {
    assertThat(LAYOUT.slots()).extracting(Slot::offset).containsExactly(0L, 16L, 32L);
    assertThat(LAYOUT.length()).isEqualTo(48);
  }

  @Test
  void hashTellsNamesShapesAndTypesApart() {
    assertThat(LAYOUT.hash()).isEqualTo(Layout.of(SPECS, Precision.FLOAT32).hash());
    assertThat(LAYOUT.hash()).isNotEqualTo(Layout.of(SPECS, Precision.FLOAT64).hash());
    assertThat(LAYOUT.hash()).isNotEqualTo(Layout.of(SPECS.reversed(), Precision.FLOAT32).hash());
    var renamed = List.of(ParameterSpec.weight("b.weight", Shape.of(3, 5), 5));
    var original = SPECS.subList(0, 1);
    assertThat(Layout.of(renamed, Precision.FLOAT32).hash())
        .isNotEqualTo(Layout.of(original, Precision.FLOAT32).hash());
  }

  @Test
  void laterBackwardsAccumulateInPlaceAndUnusedParametersAreNamed() {
    try (var _ = TensorScope.open();
        var arena = new ParameterArena(LAYOUT)) {
      var weight = arena.parameters().get("a.weight");
      var bias = arena.parameters().get("a.bias");
      var x = torch.ones(2, 5);
      Runnable backward = () -> torch.linear(x, weight, bias).sum().backward();
      assertThat(arena.leaves().bindAfter(backward)).containsExactly("unused.weight");
      backward.run();
      arena.leaves().requireInPlace();
      var gradients = arena.gradients().values();
      assertThat(gradients.narrow(0, 0, 15).sum().item_double()).isEqualTo(2 * 15 * 2);
      assertThat(gradients.narrow(0, 16, 3).sum().item_double()).isEqualTo(2 * 3 * 2);
      assertThat(gradients.narrow(0, 32, 16).abs().sum().item_double()).isZero();
    }
  }

  @Test
  void aFirstBackwardThatFailsLeavesNothingToTheNext() {
    try (var _ = TensorScope.open();
        var arena = new ParameterArena(LAYOUT)) {
      var bias = Objects.requireNonNull(arena.parameters().get("a.bias"));
      Runnable backward = () -> bias.sum().backward();
      assertThatThrownBy(() -> arena.leaves().bindAfter(failingAfter(backward)))
          .hasMessage("out of memory");
      arena.leaves().bindAfter(backward);
      assertThat(arena.gradients().values().sum().item_double()).isEqualTo(3);
    }
  }

  @Test
  void gatheredGradientsOfABackwardThatFailsAreNotAddedLater() {
    try (var _ = TensorScope.open();
        var arena = new Gradients(LAYOUT)) {
      var parameter = torch.ones(3).set_requires_grad(true);
      var place = TensorScope.keep(torch.zeros(3));
      try (var gathered = new GatheredGradients(arena, List.of(parameter), List.of(place))) {
        Runnable backward = () -> parameter.sum().backward();
        assertThatThrownBy(() -> gathered.after(failingAfter(backward)))
            .hasMessage("out of memory");
        gathered.after(backward);
        gathered.after(backward);
        assertThat(place.sum().item_double()).isEqualTo(2 * 3);
      }
    }
  }

  /** Window by window: a's parameters get gradients in all but one backward. */
  @Test
  void gatheredGradientsTakeThePlaceOfThoseOfAnEarlierWindow() {
    try (var _ = TensorScope.open();
        var arena = new ParameterArena(LAYOUT)) {
      var gradients = arena.gradients();
      var weight = Objects.requireNonNull(arena.parameters().get("a.weight"));
      var bias = Objects.requireNonNull(arena.parameters().get("a.bias"));
      try (var gathered = gathered(arena)) {
        Runnable both = () -> weight.sum().add(bias.sum()).backward();
        gathered.after(both);
        gathered.after(both);
        assertThat(sum(gradients, 0, 15)).isEqualTo(2 * 15);
        gradients.clear();
        assertThat(gradients.isStale()).isTrue();
        assertThatThrownBy(() -> gathered.after(failingAfter(both))).hasMessage("out of memory");
        gathered.after(() -> bias.sum().backward());
        assertThat(gradients.isStale()).isFalse();
        assertThat(sum(gradients, 0, 16)).isZero();
        assertThat(sum(gradients, 16, 3)).isEqualTo(3);
        gathered.after(both);
        assertThat(sum(gradients, 0, 15)).isEqualTo(15);
        assertThat(sum(gradients, 16, 16)).isEqualTo(2 * 3);
        gradients.clear();
        gathered.after(() -> {}); // nothing reached
        assertThat(gradients.norm()).isZero();
        assertThat(sum(gradients, 0, 48)).isZero();
      }
    }
  }

  private static GatheredGradients gathered(ParameterArena arena) {
    var slots = arena.layout().slots();
    return new GatheredGradients(
        arena.gradients(),
        slots.stream().map(it -> arena.parameters().get(it.spec().name())).toList(),
        slots.stream()
            .map(it -> TensorScope.keep(ParameterArena.view(arena.gradients().values(), it)))
            .toList());
  }

  private static double sum(Gradients gradients, long from, long length) {
    return gradients.values().narrow(0, from, length).sum().item_double();
  }

  @Test
  void whatIsFoundInAWindowIsToldAfterItHasEnded() {
    try (var _ = TensorScope.open();
        var gradients = new Gradients(LAYOUT)) {
      assertThat(gradients.searchesWhileScaling()).isTrue();
      for (double poison : new double[] {1, Double.NaN, 1}) {
        gradients.values().fill_(new Scalar(poison));
        gradients.addLoss(torch.tensor(2.5), 10);
        gradients.scale(0.5);
        assertThat(gradients.isSearched()).isTrue();
        double[] seen = new double[1];
        var late = gradients.endWindow(() -> seen[0] = gradients.found().item_double());
        assertThat(gradients.isFinite(LAYOUT.slots().getFirst())).isEqualTo(poison == 1);
        assertThat(gradients.totals()).isEqualTo(new Totals(0, 0));
        assertThat(seen[0]).isEqualTo(poison == 1 ? 0 : 1);
        assertThat(late.isFinite()).isEqualTo(poison == 1);
        assertThat(late.totals()).isEqualTo(new Totals(2.5, 10));
        assertThat(sum(gradients, 0, 48)).isZero();
      }
      gradients.addLoss(torch.tensor(Double.POSITIVE_INFINITY), 10);
      gradients.scale(0.5);
      assertThat(gradients.endWindow(() -> {}).isFinite()).isFalse();
    }
  }

  /** As when memory ends in the second of the spans that backward runs through. */
  private static Runnable failingAfter(Runnable backward) {
    return () -> {
      backward.run();
      throw new IllegalStateException("out of memory");
    };
  }

  @Test
  void anAdoptedParameterForgetsTheGradientsOfAnEarlierArena() {
    try (var _ = TensorScope.open();
        var first = new ParameterArena(LAYOUT);
        var second = new ParameterArena(Layout.of(SPECS, Precision.FLOAT64))) {
      var bias = torch.ones(3).set_requires_grad(true);
      first.adopt("a.bias", bias);
      first.leaves().bindAfter(() -> bias.sum().backward());
      second.adopt("a.bias", bias);
      second.leaves().bindAfter(() -> bias.sum().backward());
      second.leaves().requireInPlace();
      assertThat(second.values().narrow(0, 16, 3).sum().item_double()).isEqualTo(3);
      assertThat(second.gradients().values().sum().item_double()).isEqualTo(3);
      assertThat(first.gradients().values().sum().item_double()).isEqualTo(3);
    }
  }

  @ParameterizedTest
  @EnumSource(Precision.class)
  void countsRideExactlyBehindTheLastElement(Precision precision) {
    try (var _ = TensorScope.open();
        var gradients = new Gradients(Layout.of(SPECS, precision))) {
      long terms = (1L << 33) + 12_345;
      gradients.addLoss(torch.tensor(2.5).to(precision.scalarType()), terms);
      gradients.sealTotals();
      var last = gradients.slice(bucket(0, LAYOUT.length()));
      // What a sum over four ranks would make of it.
      last.mul_(new Scalar(4.0));
      assertThat(gradients.totals()).isEqualTo(new Totals(10, 4 * terms));
      gradients.clear();
      assertThat(gradients.totals()).isEqualTo(new Totals(0, 0));
    }
  }

  @Test
  void onlyTheLastBucketTakesTheTailAlong() {
    try (var _ = TensorScope.open();
        var gradients = new Gradients(LAYOUT)) {
      assertThat(gradients.slice(bucket(0, 16)).numel()).isEqualTo(16);
      assertThat(gradients.slice(bucket(16, 32)).numel()).isGreaterThan(32);
    }
  }

  private static Bucket bucket(long offset, long length) {
    return new Bucket(0, true, new Bucket.Range(offset, length), List.of());
  }

  @Test
  void bucketsKnowTheirParametersAndTheirTurn() {
    var slots = LAYOUT.slots();
    long cut = slots.getLast().offset();
    var buckets =
        Bucket.of(
            LAYOUT,
            List.of(new Bucket.Range(cut, LAYOUT.length() - cut), new Bucket.Range(0, cut)));
    assertThat(buckets).extracting(Bucket::index).containsExactly(0, 1);
    assertThat(buckets).extracting(Bucket::isLast).containsExactly(false, true);
    assertThat(buckets.getFirst().parameters()).containsExactly(slots.getLast());
    assertThat(buckets.getLast().parameters())
        .containsExactlyElementsOf(slots.subList(0, slots.size() - 1));
  }

  @Test
  void bucketsCoverTheArenaAndCutNoParameter() {
    var half = List.of(new Bucket.Range(0, LAYOUT.length() / 2));
    var cut = List.of(new Bucket.Range(0, 1), new Bucket.Range(1, LAYOUT.length() - 1));
    assertThatThrownBy(() -> Bucket.of(LAYOUT, half)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> Bucket.of(LAYOUT, cut))
        .hasMessageContaining("of %d parameters".formatted(LAYOUT.slots().size()));
  }

  @Test
  void anAdoptedParameterKeepsItsValuesAndLivesInTheArena() {
    try (var _ = TensorScope.open();
        var arena = new ParameterArena(LAYOUT)) {
      var own = torch.randn(3, 5).set_requires_grad(true);
      var before = own.detach().clone();
      arena.adopt("a.weight", own);
      assertThat(own.detach().equal(before)).isTrue();
      arena.values().mul_(new Scalar(2.0));
      assertThat(own.detach().equal(before.mul(new Scalar(2.0)))).isTrue();
    }
  }
}
