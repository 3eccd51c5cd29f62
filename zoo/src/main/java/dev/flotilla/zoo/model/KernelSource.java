package dev.flotilla.zoo.model;

import dev.flotilla.memory.ComputeDevice;
import dev.flotilla.memory.GpuKernel;
import java.io.InputStream;
import java.io.SequenceInputStream;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.bytedeco.pytorch.Tensor;

/** Where kernels of our own are written down, and those that have been compiled. */
final class KernelSource {

  static final KernelSource RESIDUAL =
      new KernelSource("residual.cu", "added_norm", "added_norm_gradient");
  static final KernelSource COLUMNS =
      new KernelSource("columns.cu", "bias_gelu", "bias_gelu_gradient", "columns_joined");
  static final KernelSource HALF = new KernelSource("half.cu", "halves");
  static final KernelSource CROSS_ENTROPY =
      new KernelSource("cross_entropy.cu", "cross_entropy", "cross_entropy_gradient");

  /** Threads of a block where rows do not tell. */
  static final int THREADS = 256;

  private static final String COMMON = "common.cuh";

  /**
   * How threads share rows.
   *
   * @param lanes elements that a thread reads at once
   * @param threads of a row
   * @param teams of so many threads in a block
   * @param chunks of a row, each of so many elements, that a thread takes
   */
  record Shape(int lanes, int threads, int teams, int chunks) {}

  /** Kernels for a device, and numbers that the compiler sets. */
  private record Wanted(ComputeDevice device, boolean isHalf, Shape shape) {

    List<String> options() {
      return List.of(
          "-DHALF=" + (isHalf ? 1 : 0),
          "-DLANES=" + shape.lanes(),
          "-DTHREADS=" + shape.threads(),
          "-DTEAMS=" + shape.teams(),
          "-DCHUNKS=" + shape.chunks());
    }
  }

  private final String file;
  private final List<String> names;
  private final Map<Wanted, Optional<Map<String, GpuKernel>>> compiled = new ConcurrentHashMap<>();

  private KernelSource(String file, String... names) {
    this.file = file;
    this.names = List.of(names);
  }

  /**
   * Returns the kernels by name, compiled at first use; nothing where the host cannot compile them.
   *
   * @param isHalf whether what is given to them is bf16 and not float32
   * @param lanes elements that a thread reads at once
   */
  Optional<Map<String, GpuKernel>> kernels(ComputeDevice device, boolean isHalf, int lanes) {
    return kernels(device, isHalf, new Shape(lanes, THREADS, 1, 1));
  }

  /** Returns the kernels for rows of one length. */
  Optional<Map<String, GpuKernel>> kernels(ComputeDevice device, boolean isHalf, Shape shape) {
    return compiled.computeIfAbsent(new Wanted(device, isHalf, shape), this::compile);
  }

  private Optional<Map<String, GpuKernel>> compile(Wanted wanted) {
    return GpuKernel.compile(
        wanted.device(),
        file,
        new SequenceInputStream(text(COMMON), text(file)),
        wanted.options(),
        names);
  }

  private static InputStream text(String name) {
    return Objects.requireNonNull(KernelSource.class.getResourceAsStream(name), name);
  }

  /**
   * Returns how many elements of tensors can be read at once: the most if all begin at a multiple
   * of 16 bytes and so does every row.
   *
   * @param length of what is read in a row, beyond which nothing may be touched
   */
  static int lanes(int most, long length, Tensor... tensors) {
    if (length % most != 0) {
      return 1;
    }
    for (var tensor : tensors) {
      try (var pointer = tensor.data_ptr()) {
        if (pointer.address() % 16 != 0) {
          return 1;
        }
      }
    }
    return most;
  }
}
