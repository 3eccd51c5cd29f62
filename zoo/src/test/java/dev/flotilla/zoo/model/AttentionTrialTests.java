package dev.flotilla.zoo.model;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.zoo.model.AttentionTrial.Kernel;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Which kernel is taken; the trials themselves need a GPU. */
class AttentionTrialTests {

  @Test
  void libtorchsChoiceStaysUnlessAnotherKernelIsClearlyQuicker() {
    assertThat(AttentionTrial.pick(Kernel.CUDNN, Map.of(Kernel.CUDNN, 1.0, Kernel.FLASH, 0.96)))
        .isEqualTo(Kernel.CUDNN);
    assertThat(AttentionTrial.pick(Kernel.CUDNN, Map.of(Kernel.CUDNN, 1.0, Kernel.FLASH, 0.9)))
        .isEqualTo(Kernel.FLASH);
  }

  @Test
  void theQuickestOfThoseIsTaken() {
    var seconds = Map.of(Kernel.FLASH, 1.0, Kernel.EFFICIENT, 0.9, Kernel.CUDNN, 0.85);
    assertThat(AttentionTrial.pick(Kernel.FLASH, seconds)).isEqualTo(Kernel.CUDNN);
  }

  @Test
  void withoutATimeOfLibtorchsChoiceItStays() {
    assertThat(AttentionTrial.pick(Kernel.CUDNN, Map.of(Kernel.FLASH, 0.1)))
        .isEqualTo(Kernel.CUDNN);
    assertThat(AttentionTrial.pick(Kernel.CUDNN, Map.of())).isEqualTo(Kernel.CUDNN);
  }

  @Test
  void aKernelThatFailsIsNotTaken() {
    var seconds = Map.of(Kernel.FLASH, Double.POSITIVE_INFINITY, Kernel.CUDNN, 0.5);
    assertThat(AttentionTrial.pick(Kernel.CUDNN, seconds)).isEqualTo(Kernel.CUDNN);
  }
}
