package dev.flotilla.memory;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;
import org.bytedeco.javacpp.Pointer;
import org.junit.jupiter.api.Test;

/** Room that large blocks have left between small ones goes back to the system. */
class HeapTrimTests {

  private static final long LARGE = 1 << 20;
  private static final long SMALL = 1 << 16;
  private static final int COUNT = 100;

  private final List<Pointer> small = new ArrayList<>();

  @Test
  void roomBetweenSmallBlocksGoesBack() {
    // The C library maps blocks of a size each by itself until it has freed such a one.
    leaveRoom();
    leaveRoom();
    long before = ProcessMemory.residentBytes();
    HeapTrim.giveBack();
    long given = before - ProcessMemory.residentBytes();
    small.forEach(Pointer::free);
    assertThat(given).isGreaterThan(COUNT / 2 * LARGE);
  }

  @Test
  void comesLessAndLessOften() {
    assertThat(LongStream.rangeClosed(1, 70).filter(HeapTrim::isDue))
        .containsExactly(1L, 2L, 4L, 8L, 16L, 32L, 64L);
  }

  private void leaveRoom() {
    List<Pointer> large = new ArrayList<>();
    for (int i = 0; i < COUNT; i++) {
      large.add(filled(LARGE));
      small.add(filled(SMALL));
    }
    large.forEach(Pointer::free);
  }

  private static Pointer filled(long bytes) {
    return Pointer.memset(Pointer.malloc(bytes), 1, bytes);
  }
}
