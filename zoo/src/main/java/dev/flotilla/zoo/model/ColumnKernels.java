package dev.flotilla.zoo.model;

import dev.flotilla.memory.ComputeDevice;
import dev.flotilla.memory.GpuKernel;
import dev.flotilla.memory.TensorScope;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;

/**
 * Kernels over the rows of a matrix that add up its columns on the way, as gradients of offsets
 * want them; nothing else looks at those numbers again.
 *
 * @param kernels by name
 * @param device where they run
 * @param rows of the matrix
 * @param width of the matrix
 * @param tiles runs of columns, each a block's
 */
record ColumnKernels(
    Map<String, GpuKernel> kernels, ComputeDevice device, long rows, int width, int tiles) {

  private static final int THREADS = KernelSource.THREADS;
  private static final int ACROSS = 32;
  private static final int DOWN = THREADS / ACROSS;

  /** Elements of 16 bytes. */
  private static final int FLOATS = 4;

  private static final int HALVES = 8;

  /** Widest matrix, in runs of columns: each has a counter. */
  private static final int MOST_TILES = 4096;

  /** Twice what a large GPU runs at once; a fixed number, so that sums come out the same. */
  private static final int SUMMING_BLOCKS = 1056;

  private static final int OTHER_BLOCKS = 4 * SUMMING_BLOCKS;

  private static final Map<ComputeDevice, Tensor> COUNTERS = new ConcurrentHashMap<>();

  /**
   * A gradient with the sums of its columns.
   *
   * @param whole of what went in
   * @param sums of its columns, in float32: that of an offset
   */
  record Summed(Tensor whole, Tensor sums) {}

  /** Tells whether matrices of a type and width can be taken on a device. */
  static boolean arePresent(ComputeDevice device, torch.ScalarType type, long width) {
    return device.isCuda()
        && (type == torch.ScalarType.Float || type == torch.ScalarType.BFloat16)
        && width > 0
        && Math.ceilDiv(width, ACROSS) <= MOST_TILES
        && KernelSource.COLUMNS.kernels(device, isHalf(type), 1).isPresent();
  }

  private static boolean isHalf(torch.ScalarType type) {
    return type == torch.ScalarType.BFloat16;
  }

  /** Returns kernels for a matrix over the last axis of a tensor. */
  private static ColumnKernels of(
      torch.ScalarType type, int most, long rows, long width, Tensor... tensors) {
    var device = ComputeDevice.of(tensors[0]);
    int lanes = KernelSource.lanes(most, width, tensors);
    return new ColumnKernels(
        KernelSource.COLUMNS.kernels(device, isHalf(type), lanes).orElseThrow(),
        device,
        rows,
        Math.toIntExact(width),
        Math.toIntExact(Math.ceilDiv(width, (long) ACROSS * lanes)));
  }

  private static int most(torch.ScalarType type) {
    return isHalf(type) ? HALVES : FLOATS;
  }

  private static long width(Tensor tensor) {
    return tensor.size(tensor.dim() - 1);
  }

  /** Returns gelu(input + offset), in a tensor of its own. */
  static Tensor gelu(Tensor input, Tensor offset) {
    var type = input.scalar_type().intern();
    long width = width(input);
    Tensor output = torch.empty_like(input);
    var on = of(type, most(type), input.numel() / width, width, input, output);
    on.launch("bias_gelu", input, offset, output, on.rows, on.width, on.tiles);
    return output;
  }

  /**
   * Returns the gradients of what {@link #gelu} has taken.
   *
   * @param result takes that of the input; it may be that of the output
   * @param output takes what {@link #gelu} has given, unless it is undefined; it may be the input
   */
  static Summed geluGradient(
      Tensor gradient, Tensor input, Tensor offset, Tensor result, Tensor output) {
    var type = input.scalar_type().intern();
    long width = width(input);
    var on = of(type, most(type), input.numel() / width, width, gradient, input, result);
    Object remade = output.defined() ? output : GpuKernel.ABSENT;
    return on.summing(
        "bias_gelu_gradient", result, List.of(gradient, input, offset, result, remade), List.of());
  }

  /** Returns three matrices of one shape, without gaps, side by side, and all columns' sums. */
  static Summed joined(Tensor first, Tensor second, Tensor third) {
    var type = first.scalar_type().intern();
    long each = width(first);
    long rows = first.numel() / each;
    Tensor whole = ComputeDevice.of(first).empty(type, rows, 3 * each);
    int most = each % most(type) == 0 ? most(type) : 1;
    var on = of(type, most, rows, 3 * each, first, second, third, whole);
    return on.summing(
        "columns_joined",
        whole,
        List.of(first, second, third, whole),
        List.of(Math.toIntExact(each), each));
  }

  /** Returns a matrix, whose rows may have gaps between them, and the sums of its columns. */
  static Summed summed(Tensor matrix) {
    var type = matrix.scalar_type().intern();
    long stride = matrix.stride(0);
    int most = stride % most(type) == 0 ? most(type) : 1;
    var on = of(type, most, matrix.size(0), matrix.size(1), matrix);
    return on.summing(
        "columns_joined",
        matrix,
        List.of(matrix, GpuKernel.ABSENT, GpuKernel.ABSENT, GpuKernel.ABSENT),
        List.of(on.width, stride));
  }

  private Summed summing(String name, Tensor whole, List<Object> given, List<Object> more) {
    Tensor sums = device.empty(torch.ScalarType.Float, width);
    try (var _ = TensorScope.open()) {
      int chunks = chunks(SUMMING_BLOCKS);
      Tensor parts = device.empty(torch.ScalarType.Float, chunks, width);
      List<Object> arguments = new ArrayList<>(given);
      arguments.add(parts);
      arguments.add(sums);
      arguments.add(COUNTERS.computeIfAbsent(device, ColumnKernels::counters));
      arguments.addAll(List.of(rows, width, tiles));
      arguments.addAll(more);
      kernel(name).launch(chunks * tiles, THREADS, arguments.toArray());
    }
    return new Summed(whole, sums);
  }

  private void launch(String name, Object... arguments) {
    kernel(name).launch(chunks(OTHER_BLOCKS) * tiles, THREADS, arguments);
  }

  private int chunks(int blocks) {
    return (int) Math.clamp(blocks / tiles, 1, Math.ceilDiv(rows, DOWN));
  }

  private GpuKernel kernel(String name) {
    return Objects.requireNonNull(kernels.get(name), name);
  }

  /** Kernels leave them as they find them, one after the other. */
  private static Tensor counters(ComputeDevice device) {
    try (var _ = TensorScope.open()) {
      return TensorScope.keep(device.zeros(torch.ScalarType.Int, MOST_TILES));
    }
  }
}
