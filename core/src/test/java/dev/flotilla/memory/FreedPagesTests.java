package dev.flotilla.memory;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Map;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;
import org.junit.jupiter.api.Test;

class FreedPagesTests {

  private static final int PAGE = 4096;
  private static final int TENSOR = 1 << 20; // bytes
  private static final int TENSORS = 80; // more than one of a thread's heaps holds
  private static final int STEPS = 50;

  @Test
  void aStepTakesItsMemoryFromWhatTheLastOneFreed() throws Exception {
    NativeLibraries.load();
    // A thread that is new has a heap of its own, as that of a program's main method has.
    var taken = new long[1];
    var thread =
        new Thread(
            () -> {
              steps(2);
              long before = pagesTaken();
              steps(STEPS);
              taken[0] = pagesTaken() - before;
            });
    thread.start();
    thread.join();
    // Given back, each step would take all of its pages anew; the JVM's other threads take a few.
    assertThat(taken[0]).isLessThan((long) STEPS * TENSORS * (TENSOR / PAGE) / 20);
  }

  private static void steps(int count) {
    for (int step = 0; step < count; step++) {
      var tensors = new ArrayList<Tensor>();
      for (int i = 0; i < TENSORS; i++) {
        tensors.add(torch.ones(TENSOR / Float.BYTES));
      }
      tensors.reversed().forEach(Tensor::close);
    }
  }

  private static long pagesTaken() {
    try {
      var stat = Files.readString(Path.of("/proc/thread-self/stat"));
      return Long.parseLong(stat.substring(stat.lastIndexOf(')') + 2).split(" ")[7]);
    } catch (IOException impossible) {
      throw new AssertionError(impossible);
    }
  }

  @Test
  void whatTheUserOrTheLauncherHasToldTheCLibraryHolds() {
    assertThat(FreedPages.isTold(Map.of("PATH", "/bin"))).isFalse();
    assertThat(FreedPages.isTold(Map.of("GLIBC_TUNABLES", "glibc.rtld.optional_static_tls=512")))
        .isFalse();
    assertThat(FreedPages.isTold(Map.of("MALLOC_ARENA_MAX", "1"))).isTrue();
    assertThat(FreedPages.isTold(Map.of("MALLOC_TRIM_THRESHOLD_", "0"))).isTrue();
    assertThat(FreedPages.isTold(Map.of("GLIBC_TUNABLES", "glibc.malloc.mxfast=0"))).isTrue();
  }
}
