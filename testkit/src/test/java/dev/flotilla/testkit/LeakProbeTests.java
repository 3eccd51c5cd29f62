package dev.flotilla.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import org.bytedeco.javacpp.Pointer;
import org.bytedeco.pytorch.global.torch;
import org.junit.jupiter.api.Test;

class LeakProbeTests {

  private static final long SIZE = 64L << 20;

  @Test
  void seesMemoryThatIsTakenAndGivenBack() {
    long before = LeakProbe.liveBytes();
    Pointer block = Pointer.malloc(SIZE);
    long during = LeakProbe.liveBytes();
    Pointer.free(block);
    assertThat(during - before).isGreaterThanOrEqualTo(SIZE - (4L << 20));
    assertThat(LeakProbe.liveBytes()).isLessThan(during - SIZE + (8L << 20));
  }

  @Test
  void peakStaysUntilItIsReset() {
    var tensor = torch.ones(SIZE / 4);
    long resident = LeakProbe.residentBytes();
    tensor.close();
    assertThat(LeakProbe.peakResidentBytes()).isGreaterThanOrEqualTo(resident - (4L << 20));
    LeakProbe.resetPeak();
    assertThat(LeakProbe.peakResidentBytes()).isLessThan(resident - SIZE / 2);
  }
}
