package dev.flotilla.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import org.bytedeco.javacpp.Pointer;
import org.bytedeco.pytorch.global.torch;
import org.junit.jupiter.api.Test;

class LeakProbeTests {

  private static final long SIZE = 64L << 20;

  /** So much that what compilers borrow meanwhile does not count; nobody touches it. */
  private static final long LARGE = 1L << 30;

  @Test
  void seesMemoryThatIsTakenAndGivenBack() {
    long before = LeakProbe.liveBytes();
    Pointer block = Pointer.malloc(LARGE);
    long during = LeakProbe.liveBytes();
    Pointer.free(block);
    assertThat(during - before).isBetween(LARGE * 9 / 10, LARGE * 11 / 10);
    assertThat(LeakProbe.liveBytes() - before).isLessThan(LARGE / 10);
  }

  @Test
  void settledBytesAreWhatStays() {
    long before = LeakProbe.settledBytes();
    Pointer block = Pointer.malloc(LARGE);
    long during = LeakProbe.settledBytes();
    Pointer.free(block);
    assertThat(during - before).isBetween(LARGE * 9 / 10, LARGE * 11 / 10);
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
