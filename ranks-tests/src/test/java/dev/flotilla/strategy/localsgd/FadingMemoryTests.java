package dev.flotilla.strategy.localsgd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.flotilla.data.Batch;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.model.Model;
import dev.flotilla.optim.Adam;
import dev.flotilla.optim.Optimizer;
import dev.flotilla.optim.Sgd;
import dev.flotilla.testkit.ColouredPoints;
import dev.flotilla.testkit.NormedPerceptron;
import dev.flotilla.testkit.Ranks;
import dev.flotilla.testkit.Snapshot;
import dev.flotilla.train.Trainer;
import dev.flotilla.wire.Dtype;
import dev.flotilla.world.World;
import dev.flotilla.zoo.model.Mlp;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.bytedeco.pytorch.Scalar;
import org.junit.jupiter.api.Test;

/**
 * What fades in a rank's memory while an average travels, and what belongs to each rank of a host.
 */
class FadingMemoryTests {

  private static final ColouredPoints POINTS = new ColouredPoints(64, 8, 4);
  private static final int ROUND = 16;

  private static LocalSgd averaging(
      MomentumPolicy momentum, boolean overlap, AveragingGroup group) {
    return new LocalSgd(ROUND, 1, momentum, Dtype.FP32, overlap, group, null);
  }

  /** Inputs of rank 0 are a hundred times larger than others until the first round has ended. */
  private static Snapshot trained(
      World world, Model model, Optimizer optimizer, LocalSgd technique, int updates) {
    var builder =
        Trainer.on(world).model(model).optimizer(optimizer).strategy(technique).threads(1);
    try (var trainer = builder.build()) {
      for (int i = 0; i < updates; i++) {
        try (var _ = TensorScope.open()) {
          var batch = POINTS.load(new int[] {i % 60, i % 60 + 1, i % 60 + 2, i % 60 + 3});
          double scale = world.rank() == 0 && i <= ROUND ? 100 : 0.01;
          var scaled = batch.inputs().getFirst().mul(new Scalar(scale));
          trainer.step(new Batch(List.of(scaled), batch.targets(), batch.samples()));
        }
      }
      return Snapshot.of(trainer);
    }
  }

  private static double[] values(Snapshot snapshot, String name) {
    return Objects.requireNonNull(snapshot.values().get(name));
  }

  @Test
  void secondMomentsStayPositiveWhileAnAverageTravels() {
    var adam = new Adam(0.01, List.of(0.9, 0.9), 1e-8, 0);
    var technique = averaging(MomentumPolicy.AVERAGE, true, AveragingGroup.RANK);
    var ranks =
        Ranks.of(2)
            .callWorlds(
                world -> trained(world, new Mlp(8, List.of(16), 4), adam, technique, 4 * ROUND));
    for (var rank : ranks) {
      assertThat(values(rank, "fc1.weight")).doesNotContain(Double.NaN);
      assertThat(rank.largest("fc1.weight")).isLessThan(10);
    }
  }

  @Test
  void variancesStayPositiveWhileAnAverageTravels() {
    var technique = averaging(MomentumPolicy.LOCAL, true, AveragingGroup.RANK);
    var model = new NormedPerceptron(8, 16, 4);
    var ranks =
        Ranks.of(2)
            .callWorlds(world -> trained(world, model, new Sgd(0.01), technique, 2 * ROUND + 1));
    for (var rank : ranks) {
      assertThat(Arrays.stream(values(rank, "bn.running_var"))).allMatch(value -> value > 0);
    }
  }

  /** Four ranks on two hosts. */
  @Test
  void statisticsOfAllRanksOfAHostCount() {
    var model = new NormedPerceptron(8, 16, 4);
    var technique = averaging(MomentumPolicy.LOCAL, false, AveragingGroup.HOST);
    int before = ROUND;
    var apart = onTwoHosts(model, technique, before);
    var together = onTwoHosts(model, technique, before + 1);
    double[] mean = new double[16];
    for (var rank : apart) {
      for (int i = 0; i < mean.length; i++) {
        mean[i] += values(rank, "bn.running_var")[i] / apart.size();
      }
    }
    // One more update moves a statistic by a tenth towards the batch's; rank 0's is the only large.
    for (var rank : together) {
      assertThat(values(rank, "bn.running_var"))
          .isEqualTo(values(together.getFirst(), "bn.running_var"));
      assertThat(values(rank, "bn.running_var")[0]).isCloseTo(mean[0], within(0.5 * mean[0]));
    }
  }

  private static List<Snapshot> onTwoHosts(Model model, LocalSgd technique, int updates) {
    return Ranks.of(4)
        .callWorlds(
            world -> {
              int rank = world.rank();
              var place = new World(rank, 4, rank % 2, 2, rank / 2, 2, world.rendezvous());
              return trained(place, model, new Sgd(0.01), technique, updates);
            });
  }
}
