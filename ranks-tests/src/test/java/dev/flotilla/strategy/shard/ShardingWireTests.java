package dev.flotilla.strategy.shard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.flotilla.collective.Traffic;
import dev.flotilla.optim.Momentum;
import dev.flotilla.settings.ByteSize;
import dev.flotilla.strategy.Strategy;
import dev.flotilla.strategy.fusion.FuseAllReduce;
import dev.flotilla.strategy.merge.GradientMerge;
import dev.flotilla.strategy.precision.MixedPrecision;
import dev.flotilla.testkit.ColouredPoints;
import dev.flotilla.testkit.Ranks;
import dev.flotilla.train.Trainer;
import dev.flotilla.train.TrainerBuilder;
import dev.flotilla.wire.Dtype;
import dev.flotilla.world.World;
import dev.flotilla.zoo.model.Mlp;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What sharded training sends, compared with the all-reduce of a run that shards nothing. */
class ShardingWireTests {

  private static final int WINDOWS = 3;
  private static final ColouredPoints POINTS = new ColouredPoints(480, 64, 4);

  private static TrainerBuilder trainer(World world, Strategy... techniques) {
    return Trainer.on(world)
        .model(new Mlp(64, List.of(128, 128, 128, 128, 128, 128), 4))
        .optimizer(new Momentum(0.05, 0.9))
        .strategy(techniques)
        .threads(1);
  }

  /** Returns the bytes that all ranks together have sent after each micro-step. */
  private static List<Long> sent(int ranks, int merge, Strategy... techniques) {
    var all =
        Ranks.of(ranks)
            .callWorlds(
                world -> {
                  try (var trainer = trainer(world, techniques).build()) {
                    var shard = POINTS.batches(8).shuffled(1).epoch(0, world.rank(), world.size());
                    List<Long> sent = new ArrayList<>();
                    for (int step = 0; step < WINDOWS * merge; step++) {
                      trainer.step(shard.load(step));
                      sent.add(trainer.sent(Traffic.EXCHANGE).bytesSent());
                    }
                    return sent;
                  }
                });
    List<Long> sums = new ArrayList<>();
    for (int step = 0; step < WINDOWS * merge; step++) {
      int at = step;
      sums.add(all.stream().mapToLong(each -> each.get(at)).sum());
    }
    return sums;
  }

  /** Of the last segment, what forward has gathered is still there in backward. */
  @ParameterizedTest
  @CsvSource({
    "4, 1, 1, 1.0, 0.02", "2, 1, 2, 1.0, 0.02", "4, 1, 3, 1.48, 0.02",
    "2, 4, 1, 1.0, 0.02", "4, 4, 2, 2.5, 0.02", "2, 4, 3, 5.9, 0.1"
  })
  void bytesAreAsTheFormulaSays(int ranks, int merge, int stage, double ratio, double off) {
    var plain = sent(ranks, merge, new GradientMerge(merge)).getLast();
    var sharded = sent(ranks, merge, new GradientMerge(merge), new Sharding(stage)).getLast();
    assertThat((double) sharded / plain).isCloseTo(ratio, within(off));
  }

  /** Gradients go in half the bytes, parameters in all of theirs. */
  @ParameterizedTest
  @CsvSource({
    "2, 1, 1, 0.75, 0.02", "4, 1, 2, 0.75, 0.02", "2, 1, 3, 1.23, 0.02",
    "2, 4, 1, 0.75, 0.02", "4, 4, 2, 1.5, 0.02", "2, 4, 3, 4.9, 0.1"
  })
  void halvesOnTheWireAreHalfOfWhatGradientsSend(
      int ranks, int merge, int stage, double ratio, double off) {
    var half = new FuseAllReduce().on(Dtype.BF16);
    var merged = new GradientMerge(merge);
    var plain = sent(ranks, merge, merged).getLast();
    var sharded = sent(ranks, merge, merged, half, new Sharding(stage)).getLast();
    assertThat((double) sharded / plain).isCloseTo(ratio, within(off));
  }

  /** Gradients and parameters go in half the bytes. */
  @ParameterizedTest
  @CsvSource({
    "2, 1, 1, 0.5, 0.01", "4, 1, 2, 0.5, 0.01", "2, 1, 3, 0.74, 0.01",
    "2, 4, 1, 0.5, 0.01", "4, 4, 2, 1.25, 0.01", "2, 4, 3, 2.95, 0.05"
  })
  void parametersInBf16SendHalf(int ranks, int merge, int stage, double ratio, double off) {
    var merged = new GradientMerge(merge);
    var plain = sent(ranks, merge, merged).getLast();
    var halves = new Sharding(stage).withParameters(Dtype.BF16);
    var sharded = sent(ranks, merge, merged, new MixedPrecision(Dtype.BF16), halves).getLast();
    assertThat((double) sharded / plain).isCloseTo(ratio, within(off));
  }

  /** A window gathers once what stays, and reduces the gradients of every micro-step. */
  @ParameterizedTest
  @CsvSource({"1, 1.0", "4, 2.5"})
  void parametersThatStayAreGatheredOncePerUpdate(int merge, double ratio) {
    var plain = sent(2, merge, new GradientMerge(merge)).getLast();
    var staying = new Sharding(3).withKeepGathered(ByteSize.parse("1GB"));
    var sharded = sent(2, merge, new GradientMerge(merge), staying).getLast();
    assertThat((double) sharded / plain).isCloseTo(ratio, within(0.02));
  }

  @ParameterizedTest
  @CsvSource({"1, false", "2, true"})
  void nothingIsSentBeforeTheWindowEnds(int stage, boolean noSync) {
    var sent = sent(2, 4, new GradientMerge(4), new Sharding(stage, noSync));
    assertThat(sent.subList(0, 3)).containsOnly(0L);
    assertThat(sent.get(3)).isPositive();
    assertThat(sent.subList(4, 7)).containsOnly(sent.get(3));
  }
}
