package dev.flotilla.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.flotilla.settings.ConfigException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.bytedeco.pytorch.Scalar;
import org.bytedeco.pytorch.Tensor;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class StateMemoryTests {

  @TempDir private Path folder;

  @BeforeAll
  static void load() {
    NativeLibraries.load();
  }

  private static void fill(List<Tensor> tensors) {
    for (int i = 0; i < tensors.size(); i++) {
      try (var value = new Scalar(i + 1.0)) {
        tensors.get(i).fill_(value);
      }
    }
  }

  private static List<Double> sums(List<Tensor> tensors) {
    try (var _ = TensorScope.open()) {
      return tensors.stream().map(it -> it.sum().item_double()).toList();
    }
  }

  @Test
  void tensorsInAFileDoNotOverlapAndBeginAlignedWithZeros() {
    try (var memory = StateMemory.beside(ComputeDevice.CPU, folder)) {
      // The second does not fit into the first block, the last not into any usual one.
      var lengths = List.of(3L, 300_000L, 17L, 80_000_000L);
      var tensors = memory.zeros(Precision.FLOAT32, lengths);
      assertThat(sums(tensors)).containsOnly(0.0);
      assertThat(tensors).allMatch(it -> it.data_ptr().address() % 64 == 0);
      fill(tensors);
      assertThat(sums(tensors)).containsExactly(3.0, 600_000.0, 51.0, 320_000_000.0);
      tensors.forEach(TensorScope::free);
    }
  }

  @Test
  void theFileHasNoNameWhileItIsUsed() throws IOException {
    try (var memory = StateMemory.beside(ComputeDevice.CPU, folder);
        var files = Files.list(folder)) {
      var tensors = memory.zeros(Precision.FLOAT64, List.of(5L));
      assertThat(files).isEmpty();
      tensors.forEach(TensorScope::free);
    }
  }

  @Test
  void theSystemCountsTheMemoryAsAFile() throws IOException {
    try (var memory = StateMemory.beside(ComputeDevice.CPU, folder)) {
      var tensors = memory.zeros(Precision.FLOAT32, List.of(1_000_000L));
      long address = tensors.getFirst().data_ptr().address();
      var map = Files.readAllLines(Path.of("/proc/self/maps"));
      assertThat(map)
          .filteredOn(line -> holds(line, address))
          .singleElement()
          .asString()
          .contains("rw-s", folder.toString(), "(deleted)");
      tensors.forEach(TensorScope::free);
    }
  }

  private static boolean holds(String line, long address) {
    int dash = line.indexOf('-');
    int end = line.indexOf(' ');
    return Long.parseUnsignedLong(line, 0, dash, 16) <= address
        && address < Long.parseUnsignedLong(line, dash + 1, end, 16);
  }

  @Test
  void whatFindsRoomMovesToTheDevice() {
    try (var memory = StateMemory.beyond(ComputeDevice.CPU, folder)) {
      var tensors = memory.zeros(Precision.FLOAT32, List.of(8L));
      fill(tensors);
      long before = tensors.getFirst().data_ptr().address();
      var settled = memory.settle(tensors.getFirst());
      assertThat(settled.data_ptr().address()).isNotEqualTo(before);
      assertThat(sums(List.of(settled))).containsExactly(8.0);
      TensorScope.free(settled);
    }
  }

  @Test
  void whatFindsNoRoomStaysInTheFile() {
    try (var memory = new SpilledState(StateMemory.beside(ComputeDevice.CPU, folder), 100)) {
      var tensors = memory.zeros(Precision.FLOAT32, List.of(16L, 16L, 8L));
      var settled = tensors.stream().map(memory::settle).toList();
      assertThat(settled.get(0)).isNotSameAs(tensors.get(0));
      assertThat(settled.get(1)).isSameAs(tensors.get(1));
      assertThat(settled.get(2)).isNotSameAs(tensors.get(2));
      settled.forEach(TensorScope::free);
    }
  }

  @Test
  void theSystemTellsHowMuchRoomThereIs() {
    assertThat(ProcessMemory.roomBytes()).isBetween(1L, ProcessMemory.availableBytes() * 2);
  }

  @Test
  void aFolderThatIsMemoryOrNoneIsRefused() {
    assertThatThrownBy(() -> StateMemory.beside(ComputeDevice.CPU, Path.of("/dev/shm")))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining("offload_folder: /dev/shm is memory itself (tmpfs)")
        .hasMessageContaining("name a folder on a disk");
    var none = folder.resolve("none");
    assertThatThrownBy(() -> StateMemory.beside(ComputeDevice.CPU, none))
        .hasMessageContaining("offload_folder: no such folder: " + none);
  }
}
