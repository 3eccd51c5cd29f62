package dev.flotilla.strategy.fusion;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.flotilla.collective.Traffic;
import dev.flotilla.data.BatchSource;
import dev.flotilla.data.Dataset;
import dev.flotilla.memory.Precision;
import dev.flotilla.model.Model;
import dev.flotilla.optim.Momentum;
import dev.flotilla.report.TrainingEvent;
import dev.flotilla.settings.ConfigException;
import dev.flotilla.strategy.PlanRejectedException;
import dev.flotilla.strategy.Strategy;
import dev.flotilla.strategy.clip.ClipByNorm;
import dev.flotilla.strategy.merge.GradientMerge;
import dev.flotilla.strategy.precision.MixedPrecision;
import dev.flotilla.strategy.recompute.Recompute;
import dev.flotilla.strategy.shard.Sharding;
import dev.flotilla.testkit.ColouredPoints;
import dev.flotilla.testkit.Matrix;
import dev.flotilla.testkit.Ranks;
import dev.flotilla.testkit.Snapshot;
import dev.flotilla.train.Trainer;
import dev.flotilla.train.TrainerBuilder;
import dev.flotilla.wire.Dtype;
import dev.flotilla.world.World;
import dev.flotilla.zoo.data.SyntheticImages;
import dev.flotilla.zoo.data.SyntheticTokens;
import dev.flotilla.zoo.data.TextTask;
import dev.flotilla.zoo.model.BertTiny;
import dev.flotilla.zoo.model.Mlp;
import dev.flotilla.zoo.model.Normalization;
import dev.flotilla.zoo.model.ResNet18;
import dev.flotilla.zoo.model.Stem;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

class FuseAllReduceTests {

  private static final ColouredPoints POINTS = new ColouredPoints(105, 8, 4);

  private final List<String> notes = new CopyOnWriteArrayList<>();

  /** Buckets of some bytes, so that small models have several. */
  private static FuseAllReduce buckets(double kilobytes, boolean overlap) {
    return new FuseAllReduce(kilobytes / 1024, 50, 0, overlap, BucketRule.SIZE, Dtype.FP32);
  }

  private TrainerBuilder trainer(World world, Model model, Strategy... techniques) {
    return Trainer.on(world)
        .model(model)
        .optimizer(new Momentum(0.05, 0.9))
        .strategy(techniques)
        .events(
            event -> {
              if (event instanceof TrainingEvent.Noted(var text)) {
                notes.add(text);
              }
            })
        .threads(1);
  }

  private Snapshot fit(int ranks, Model model, Dataset data, int batch, Strategy... techniques) {
    var all =
        Ranks.of(ranks)
            .callWorlds(
                world -> {
                  try (var trainer = trainer(world, model, techniques).build()) {
                    trainer.fit(BatchSource.global(data, batch), 1);
                    return Snapshot.of(trainer);
                  }
                });
    all.forEach(each -> assertThat(each.isSameAs(all.getFirst())).isTrue());
    return all.getFirst();
  }

  private Snapshot fit(int ranks, Strategy... techniques) {
    return fit(ranks, new Mlp(8, List.of(64, 64, 64), 4), POINTS, 12, techniques);
  }

  record Case(String name, Model model, Dataset data, Strategy technique) {
    @Override
    public String toString() {
      return name;
    }
  }

  static Stream<Case> models() {
    var images = new SyntheticImages(3, 16, 10, 48, 8).train();
    var tokens = new SyntheticTokens(120, 24, 48, 8, TextTask.PRETRAINING, 2).train();
    var resnet = new ResNet18(10, Stem.CIFAR, Normalization.GROUP, 4, false, 8);
    var bert = new BertTiny(null, 1, 120, 32, 2, 4, 64, 24, 0, 0);
    var none = new ClipByNorm(1e9);
    return Matrix.some(
        3,
        Stream.of(
            new Case("resnet18", resnet, images, none),
            new Case("resnet18, recomputed", resnet, images, Recompute.every(1)),
            new Case("bert with a tied decoder", bert, tokens, none),
            new Case("bert with a tied decoder, recomputed", bert, tokens, Recompute.every(1)),
            new Case("bert in bf16", bert, tokens, new MixedPrecision(Dtype.BF16)),
            new Case("bert in fp16", bert, tokens, new MixedPrecision(Dtype.FP16))));
  }

  @ParameterizedTest
  @MethodSource("models")
  void bucketsInBackwardGiveTheSameBitsAsAfterIt(Case example) {
    var after = fit(2, example.model(), example.data(), 8, buckets(8, false), example.technique());
    notes.clear();
    var during = fit(2, example.model(), example.data(), 8, buckets(8, true), example.technique());
    var whole = fit(2, example.model(), example.data(), 8, example.technique());

    assertThat(during.isSameAs(after)).isTrue();
    // Two ranks add up in one way only, however the arena is cut.
    assertThat(during.isSameAs(whole)).isTrue();
    assertThat(notes).noneMatch(note -> note.contains("waited for the end of backward"));
  }

  @ParameterizedTest
  @CsvSource({"3", "4"})
  void moreRanksGiveTheSameBitsOnTheSamePlanAndTheSameButForRoundingOnAnother(int ranks) {
    var during = fit(ranks, buckets(8, true));

    assertThat(during.isSameAs(fit(ranks, buckets(8, false)))).isTrue();
    assertThat(during.relativeDistance(fit(ranks))).isLessThan(1e-6);
  }

  @Test
  void aRankWithoutSamplesSharesZeros() {
    var tail = new ColouredPoints(50, 8, 4);
    var model = new Mlp(8, List.of(64, 64, 64), 4);

    var during = fit(4, model, tail, 12, buckets(8, true));

    assertThat(during.isSameAs(fit(4, model, tail, 12, buckets(8, false)))).isTrue();
  }

  @Test
  void sharesEachBucketOncePerWindow() {
    var merge = new GradientMerge(3);
    var operations =
        Ranks.of(2)
            .callWorlds(
                world -> {
                  var model = new Mlp(8, List.of(64, 64, 64), 4);
                  try (var trainer = trainer(world, model, buckets(8, true), merge).build()) {
                    trainer.fit(BatchSource.global(POINTS, 12), 1);
                    return trainer.collective().count(Traffic.EXCHANGE).operations();
                  }
                });

    // 9 micro-steps make 3 windows; the layers of 64 x 64 weights are a bucket each.
    assertThat(operations).containsOnly(3L * 3);
    assertThat(notes).anyMatch(note -> note.contains("8 gradients are reduced by 3 all-reduces"));
  }

  @Test
  void saysThatShardedGradientsAreScattered() {
    Ranks.of(2)
        .callWorlds(
            world -> {
              var model = new Mlp(8, List.of(64, 64, 64), 4);
              var sharding = new Sharding(1);
              try (var trainer = trainer(world, model, buckets(8, true), sharding).build()) {
                return trainer.updates();
              }
            });
    assertThat(notes)
        .anyMatch(note -> note.matches(".*8 gradients are reduced by \\d reduce-scatters"));
  }

  @ParameterizedTest
  @CsvSource({"2, BF16, 0.02", "3, BF16, 0.02", "2, FP16, 0.003", "3, FP16, 0.003"})
  void halvesOnTheWireComeCloseAndRanksStayEqual(int ranks, Dtype wire, double tolerance) {
    var halves = fit(ranks, buckets(8, true).on(wire));

    assertThat(halves.relativeDistance(fit(ranks))).isBetween(1e-9, tolerance);
    assertThat(halves.isSameAs(fit(ranks, buckets(8, false).on(wire)))).isTrue();
  }

  @Test
  void findsAPlanOfItsOwn() {
    var found = new FuseAllReduce(32, 50, 1, true, BucketRule.MG_WFBP, Dtype.FP32);
    var model = new Mlp(8, List.of(64, 64, 64), 4);

    var trained = fit(2, model, new ColouredPoints(400, 8, 4), 12, found);

    assertThat(trained.isSameAs(fit(2, model, new ColouredPoints(400, 8, 4), 12))).isTrue();
  }

  @Test
  void refusesWhatCannotBe() {
    assertThatThrownBy(() -> new FuseAllReduce(0, 0, -1, false, BucketRule.MG_WFBP, Dtype.FP32))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining("size_mb: must be greater than 0, but was 0")
        .hasMessageContaining("max_tensors: must be at least 1, but was 0")
        .hasMessageContaining("last_mb: must be at least 0, but was -1")
        .hasMessageContaining("plan: must be size without overlap");
    var doubles =
        trainer(World.solo(), new Mlp(8, List.of(), 4), new FuseAllReduce().on(Dtype.BF16))
            .precision(Precision.FLOAT64);
    assertThatThrownBy(doubles::build)
        .isInstanceOf(PlanRejectedException.class)
        .hasMessageContaining("rounds to 16 bits, but precision is float64");
  }

  @Test
  void saysThatOneRankNeedsNoBuckets() {
    try (var _ = trainer(World.solo(), new Mlp(8, List.of(), 4), new FuseAllReduce()).build()) {
      assertThat(notes)
          .anyMatch(note -> note.contains("fuse_all_reduce has no effect on one rank"));
    }
  }
}
