package dev.flotilla.zoo.model;

import dev.flotilla.memory.ComputeDevice;
import dev.flotilla.memory.GpuKernel;
import dev.flotilla.zoo.model.KernelSource.Shape;
import java.util.Map;
import java.util.Optional;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;

/**
 * The kernels of {@link AddedNorm}, compiled for rows of one length.
 *
 * @param device where they run
 * @param isHalf whether what is added to a sum is bf16 and not float32
 * @param width elements of a row
 * @param lanes elements that a thread reads at once
 */
record ResidualKernels(ComputeDevice device, boolean isHalf, int width, int lanes) {

  private static final String FORWARD = "added_norm";
  private static final String GRADIENT = "added_norm_gradient";

  /** Wider rows need more registers than a thread has. */
  private static final int WIDEST = 8192;

  private static final int WARP = 32;

  /** Elements that are read at once where all tensors begin at a multiple of 16 bytes. */
  private static final int AT_ONCE = 4;

  /** Threads that take a row forward and backward; short rows have fewer. */
  private static final int FORWARD_THREADS = 64;

  private static final int GRADIENT_THREADS = 256;
  private static final int WIDE_THREADS = 256;

  /** The widest row of which a block may take several at a time. */
  private static final int WIDEST_SHARED = 2048;

  /** As many as a large GPU runs at once; a fixed number, so that sums come out the same. */
  private static final int GRADIENT_AT_ONCE = 132 * 1280;

  private Shape shape(int most) {
    int chunks = Math.ceilDiv(width, lanes);
    boolean isShort = width <= WIDEST_SHARED;
    int allowed = isShort ? most : WIDE_THREADS;
    int threads = Math.clamp(Math.ceilDiv(chunks, WARP) * (long) WARP, WARP, allowed);
    int teams = isShort ? Math.max(1, most / threads) : 1;
    return new Shape(lanes, threads, teams, Math.ceilDiv(chunks, threads));
  }

  private Shape forwardShape() {
    return shape(FORWARD_THREADS);
  }

  private Shape gradientShape() {
    return shape(GRADIENT_THREADS);
  }

  /** Returns the kernels for rows of so many elements, in tensors that are all read by them. */
  static ResidualKernels of(ComputeDevice device, boolean isHalf, int width, Tensor... tensors) {
    int lanes = KernelSource.lanes(AT_ONCE, width, tensors);
    return new ResidualKernels(device, isHalf, width, lanes);
  }

  /** Tells whether a tensor is one that kernels take, and the host can compile them. */
  static boolean take(Tensor tensor) {
    if (!tensor.is_cuda()
        || tensor.numel() == 0
        || !tensor.is_contiguous()
        || !isFloat(tensor)
        || tensor.size(tensor.dim() - 1) > WIDEST) {
      return false;
    }
    var device = ComputeDevice.of(tensor);
    int width = Math.toIntExact(tensor.size(tensor.dim() - 1));
    var kernels = of(device, true, width);
    return kernels.compiled(kernels.forwardShape()).isPresent()
        && ColumnKernels.arePresent(device, torch.ScalarType.Float, 3L * width);
  }

  static boolean isFloat(Tensor tensor) {
    return tensor.scalar_type().intern() == torch.ScalarType.Float;
  }

  /** Starts the one forward, on tensors and numbers as the source states them. */
  void forward(long rows, Object... arguments) {
    var shape = forwardShape();
    int blocks = (int) Math.min(Math.ceilDiv(rows, (long) shape.teams()), Integer.MAX_VALUE);
    launch(FORWARD, shape, blocks, arguments);
  }

  /** Starts the one backward. */
  void gradient(long rows, Object... arguments) {
    launch(GRADIENT, gradientShape(), gradientBlocks(rows), arguments);
  }

  /** Returns how many blocks the one backward has. */
  int gradientBlocks(long rows) {
    var shape = gradientShape();
    int most = Math.max(1, GRADIENT_AT_ONCE / (shape.threads() * shape.teams()));
    return (int) Math.min(Math.ceilDiv(rows, (long) shape.teams()), most);
  }

  private void launch(String name, Shape shape, int blocks, Object... arguments) {
    var kernel = compiled(shape).orElseThrow().get(name);
    if (kernel == null) {
      throw new IllegalArgumentException("no kernel " + name);
    }
    kernel.launch(blocks, shape.threads() * shape.teams(), arguments);
  }

  private Optional<Map<String, GpuKernel>> compiled(Shape shape) {
    return KernelSource.RESIDUAL.kernels(device, isHalf, shape);
  }
}
