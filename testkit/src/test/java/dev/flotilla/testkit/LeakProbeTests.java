package dev.flotilla.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.function.LongSupplier;
import org.bytedeco.javacpp.Pointer;
import org.bytedeco.pytorch.global.torch;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("slow")
class LeakProbeTests {

  private static final long SIZE = 64L << 20;

  /** So much that what compilers borrow meanwhile does not count; nobody touches it. */
  private static final long LARGE = 1L << 30;

  @Test
  void liveBytesSeeMemoryThatIsTakenAndGivenBack() {
    requireThatItSeesABlock(LeakProbe::liveBytes);
  }

  @Test
  void settledBytesSeeItToo() {
    requireThatItSeesABlock(LeakProbe::settledBytes);
  }

  private static void requireThatItSeesABlock(LongSupplier reading) {
    long before = reading.getAsLong();
    Pointer block = Pointer.malloc(LARGE);
    long during = reading.getAsLong();
    Pointer.free(block);
    assertThat(during - before).isBetween(LARGE * 9 / 10, LARGE * 11 / 10);
    assertThat(reading.getAsLong() - before).isLessThan(LARGE / 10);
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
