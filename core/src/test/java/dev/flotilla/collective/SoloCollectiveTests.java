package dev.flotilla.collective;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.flotilla.memory.TensorScope;
import dev.flotilla.world.World;
import java.time.Duration;
import java.util.Map;
import org.bytedeco.pytorch.Scalar;
import org.bytedeco.pytorch.global.torch;
import org.junit.jupiter.api.Test;

class SoloCollectiveTests {

  @Test
  void changesNothingAndCostsNothing() {
    try (var _ = TensorScope.open();
        var solo = Collectives.join(World.solo(), CollectiveSettings.defaults())) {
      var tensor = torch.ones(3).mul_(new Scalar(2.5));
      solo.allReduce(tensor, Reduction.SUM, Traffic.EXCHANGE).await();
      solo.broadcast(tensor, 0, Traffic.START).await();
      solo.barrier();
      assertThat(tensor.sum().item_double()).isEqualTo(7.5);
      assertThat(solo.count(Traffic.EXCHANGE)).isEqualTo(new TrafficCount(0, 0));
    }
  }

  @Test
  void copiesWhatWouldBeGathered() {
    try (var _ = TensorScope.open();
        var solo = new SoloCollective()) {
      var source = torch.ones(2, 3);
      var gathered = torch.zeros(6);
      var exchanged = torch.zeros(3, 2);
      solo.allGather(gathered, source, Traffic.EXCHANGE).await();
      solo.allToAll(exchanged, source, Traffic.EXCHANGE).await();
      assertThat(gathered.sum().item_double()).isEqualTo(6);
      assertThat(exchanged.sum().item_double()).isEqualTo(6);
    }
  }

  @Test
  void refusesWhatSeveralRanksWouldRefuse() {
    try (var _ = TensorScope.open();
        var solo = new SoloCollective()) {
      assertThatThrownBy(() -> solo.broadcast(torch.ones(1), 1, Traffic.START))
          .hasMessageContaining("root must be in [0, 1)");
      assertThatThrownBy(() -> solo.allGather(torch.ones(3), torch.ones(2), Traffic.EXCHANGE))
          .hasMessageContaining("needs a tensor of 2, but was given 3");
      assertThatThrownBy(() -> solo.subgroup(1)).hasMessageContaining("[0, 1)");
    }
  }

  @Test
  void agreesWithItself() {
    try (var solo = new SoloCollective()) {
      Agreement.check(solo, Map.of("lr", "1"), Duration.ofSeconds(1));
    }
  }
}
