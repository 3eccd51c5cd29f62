package dev.flotilla.train;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.data.BatchSource;
import dev.flotilla.optim.Sgd;
import dev.flotilla.strategy.localsgd.LocalSgd;
import dev.flotilla.testkit.ColouredPoints;
import dev.flotilla.testkit.Ranks;
import dev.flotilla.zoo.model.Mlp;
import java.util.List;
import org.junit.jupiter.api.Test;

class LastLossTests {

  /** Nine samples in batches of four: the last one is rank 1's, and rank 0 has none. */
  @Test
  void isThatOfTheLastWindowInWhichTheRankHadATerm() {
    var losses =
        Ranks.of(2)
            .callWorlds(
                world -> {
                  var builder =
                      Trainer.on(world)
                          .model(new Mlp(8, List.of(16), 4))
                          .optimizer(new Sgd(0.1))
                          .strategy(new LocalSgd(2))
                          .events(_ -> {})
                          .threads(1);
                  try (var trainer = builder.build()) {
                    var points = new ColouredPoints(9, 8, 4);
                    return trainer.fit(BatchSource.global(points, 4), 1).loss();
                  }
                });
    assertThat(losses).allSatisfy(loss -> assertThat(loss).isFinite());
  }
}
