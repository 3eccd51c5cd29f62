package dev.flotilla.strategy.recompute;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.testkit.Ranks;
import java.util.List;
import org.junit.jupiter.api.Test;

class FreeMemoryTests {

  @Test
  void ranksThatShareAGpuAreCounted() {
    var gpus = List.of("GPU-1", "GPU-2", "GPU-1");
    var sharing =
        Ranks.call(3, collective -> FreeMemory.sharing(gpus.get(collective.rank()), collective));
    assertThat(sharing).containsExactly(2L, 1L, 2L);
  }
}
