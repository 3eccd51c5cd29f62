package dev.flotilla.zoo.model;

import dev.flotilla.memory.ComputeDevice;
import dev.flotilla.memory.GpuKernel;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.model.AutogradFunction;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.bytedeco.pytorch.NoGradGuard;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.TensorVector;
import org.bytedeco.pytorch.global.torch;
import org.jspecify.annotations.Nullable;

/**
 * Kernels of our own for x + dropout(p) and for LayerNorm, where libtorch's take five passes over
 * memory in mixed precision. For any transformer whose residual stream is float32.
 *
 * <p>What dropout keeps is a function of the generator's seed and the place of a number, so one
 * seed serves one sum: a part of a model draws its seed anew before it runs.
 */
public final class ResidualKernels {

  private static final String SOURCE = "residual.cu";
  private static final int ADDING_THREADS = 256;
  private static final int AT_ONCE = 4;
  private static final int MOST_THREADS = 256;
  private static final int MOST_CHUNKS = 8;
  private static final int WARP = 32;

  /** As many as a large GPU runs at once; a fixed number, so that sums come out the same. */
  private static final int GRADIENT_BLOCKS = 1024;

  private static final double DRAWS = 0x1p32;

  private static final Map<Variant, Optional<Map<String, GpuKernel>>> COMPILED =
      new ConcurrentHashMap<>();

  /** What the compiler is told. */
  private record Variant(
      ComputeDevice device, boolean isHalf, int atOnce, int threads, int chunks) {

    List<String> options() {
      return List.of(
          "-DHALF=" + (isHalf ? 1 : 0),
          "-DLANES=" + atOnce,
          "-DTHREADS=" + threads,
          "-DCHUNKS=" + chunks);
    }

    Optional<Map<String, GpuKernel>> kernels() {
      return COMPILED.computeIfAbsent(
          this,
          it ->
              GpuKernel.compile(
                  it.device,
                  SOURCE,
                  ResidualKernels.class.getResourceAsStream(SOURCE),
                  it.options(),
                  List.of(
                      "add_dropped", "add_dropped_gradient", "layer_norm", "layer_norm_gradient")));
    }
  }

  /**
   * A normalised tensor.
   *
   * @param whole in float32
   * @param half a copy in bf16 for products in mixed precision; the whole one where none was asked
   *     for
   */
  public record Normalised(Tensor whole, Tensor half) {}

  private ResidualKernels() {}

  /**
   * Returns x + dropout(added), recorded for backward, in the memory of what is added where both
   * have the same dtype; nothing where libtorch's operations must do.
   *
   * @param probability of dropping, 0 in evaluation
   */
  public static Optional<Tensor> add(Tensor added, Tensor x, double probability) {
    boolean fits = added.is_contiguous() && added.numel() == x.numel();
    if (!fits || !adds(added.scalar_type(), x)) {
      return Optional.empty();
    }
    return adding(added, x)
        .map(
            kernels -> {
              long seed = seed(x);
              Tensor sum;
              try (var scope = TensorScope.open();
                  var _ = new NoGradGuard()) {
                sum = scope.handOut(isFloat(added) ? inPlaceOf(added) : torch.empty_like(x));
                launch(kernels, "add_dropped", sum.numel(), probability, seed, added, x, sum);
              }
              var type = added.scalar_type().intern();
              AutogradFunction.record(
                  List.of(added, x),
                  List.of(sum),
                  List.of(),
                  gradients -> {
                    Tensor gradient = gradients.getFirst().contiguous();
                    return List.of(dropped(gradient, type, probability, seed), gradient);
                  });
              return sum;
            });
  }

  private static boolean isPlain(Tensor tensor) {
    return tensor.is_cuda() && tensor.numel() > 0 && tensor.is_contiguous() && isFloat(tensor);
  }

  private static boolean isFloat(Tensor tensor) {
    return tensor.scalar_type().intern() == torch.ScalarType.Float;
  }

  /** Returns the memory of a tensor, and lets a graph that has saved its values notice. */
  private static Tensor inPlaceOf(Tensor tensor) {
    Tensor memory = tensor.detach();
    memory.view(-1).narrow(0, 0, 0).zero_();
    return memory;
  }

  private static Optional<Map<String, GpuKernel>> adding(Tensor added, Tensor x) {
    int atOnce = isAligned(added) && isAligned(x) ? AT_ONCE : 1;
    return variant(added.scalar_type().intern(), atOnce, x).kernels();
  }

  private static Variant variant(torch.ScalarType type, int atOnce, Tensor x) {
    boolean isHalf = type == torch.ScalarType.BFloat16;
    return new Variant(ComputeDevice.of(x), isHalf, atOnce, ADDING_THREADS, 1);
  }

  private static boolean isAligned(Tensor tensor) {
    try (var pointer = tensor.data_ptr()) {
      return pointer.address() % (AT_ONCE * Float.BYTES) == 0;
    }
  }

  private static long seed(Tensor tensor) {
    try (var _ = TensorScope.open()) {
      return ComputeDevice.of(tensor).generator().current_seed();
    }
  }

  /** Tells whether {@link #add} would add something of this type to x. */
  public static boolean adds(torch.ScalarType type, Tensor x) {
    var kind = type.intern();
    boolean isKnown = kind == torch.ScalarType.Float || kind == torch.ScalarType.BFloat16;
    return isKnown && isPlain(x) && variant(kind, AT_ONCE, x).kernels().isPresent();
  }

  /**
   * Returns the gradient of what {@link #add} has added, with the generator's seed of that time.
   */
  public static Tensor dropped(Tensor gradient, torch.ScalarType type, double probability) {
    return dropped(gradient, type, probability, seed(gradient));
  }

  private static Tensor dropped(
      Tensor gradient, torch.ScalarType type, double probability, long seed) {
    Tensor result = ComputeDevice.of(gradient).empty(type, gradient.shape());
    var kernels = adding(result, gradient).orElseThrow();
    long count = gradient.numel();
    launch(kernels, "add_dropped_gradient", count, probability, seed, gradient, result);
    return result;
  }

  private static void launch(
      Map<String, GpuKernel> kernels,
      String name,
      long count,
      double probability,
      long seed,
      Object... tensors) {
    long dropped = Math.min(Math.round(probability * DRAWS), (long) DRAWS - 1);
    List<Object> arguments = new ArrayList<>(List.of(tensors));
    arguments.add(count);
    arguments.add(seed);
    arguments.add((int) dropped);
    arguments.add((float) (1 / (1 - dropped / DRAWS)));
    int blocks = Math.toIntExact(Math.ceilDiv(count, (long) ADDING_THREADS * AT_ONCE));
    kernel(kernels, name).launch(blocks, ADDING_THREADS, arguments.toArray());
  }

  private static GpuKernel kernel(Map<String, GpuKernel> kernels, String name) {
    var kernel = kernels.get(name);
    if (kernel == null) {
      throw new IllegalStateException("no kernel " + name);
    }
    return kernel;
  }

  /**
   * Returns LayerNorm over the last axis, recorded for backward; nothing where libtorch's operation
   * must do.
   *
   * @param copies whether a copy in bf16 is wanted
   */
  public static Optional<Normalised> norm(
      Tensor input, Tensor gamma, Tensor beta, double epsilon, boolean copies) {
    int width = Math.toIntExact(gamma.numel());
    if (!isPlain(input) || width > MOST_THREADS * MOST_CHUNKS * AT_ONCE) {
      return Optional.empty();
    }
    return norming(input, gamma, beta)
        .kernels()
        .map(kernels -> norm(kernels, input, gamma, beta, epsilon, copies));
  }

  private static Variant norming(Tensor input, Tensor gamma, Tensor beta) {
    int width = Math.toIntExact(gamma.numel());
    boolean isAligned = isAligned(input) && isAligned(gamma) && isAligned(beta);
    int atOnce = width % AT_ONCE == 0 && isAligned ? AT_ONCE : 1;
    int lanes = Math.ceilDiv(width, atOnce);
    int threads = Math.clamp(Math.ceilDiv(lanes, WARP) * (long) WARP, WARP, MOST_THREADS);
    return new Variant(
        ComputeDevice.of(input), false, atOnce, threads, Math.ceilDiv(lanes, threads));
  }

  private static Normalised norm(
      Map<String, GpuKernel> kernels,
      Tensor input,
      Tensor gamma,
      Tensor beta,
      double epsilon,
      boolean copies) {
    var device = ComputeDevice.of(input);
    int width = Math.toIntExact(gamma.numel());
    int threads = norming(input, gamma, beta).threads();
    int rows = Math.toIntExact(input.numel() / width);
    Tensor output;
    Tensor copy;
    Tensor means;
    Tensor inverses;
    try (var scope = TensorScope.open();
        var _ = new NoGradGuard()) {
      output = scope.handOut(torch.empty_like(input));
      means = scope.handOut(device.empty(torch.ScalarType.Float, rows));
      inverses = scope.handOut(device.empty(torch.ScalarType.Float, rows));
      copy =
          copies ? scope.handOut(device.empty(torch.ScalarType.BFloat16, input.shape())) : output;
      Object other = copies ? copy : GpuKernel.ABSENT;
      kernel(kernels, "layer_norm")
          .launch(
              rows,
              threads,
              input,
              gamma,
              beta,
              output,
              other,
              means,
              inverses,
              width,
              (float) epsilon);
    }
    Tensor seen = input.detach();
    AutogradFunction.record(
        List.of(input, gamma, beta),
        copies ? List.of(output, copy) : List.of(output),
        List.of(seen, gamma, means, inverses),
        gradients -> gradients(kernels, threads, seen, gamma, means, inverses, gradients));
    return new Normalised(output, copy);
  }

  private static List<Tensor> gradients(
      Map<String, GpuKernel> kernels,
      int threads,
      Tensor input,
      Tensor gamma,
      Tensor means,
      Tensor inverses,
      List<Tensor> incoming) {
    var device = ComputeDevice.of(input);
    long width = gamma.numel();
    long rows = input.numel() / width;
    int blocks = (int) Math.min(rows, GRADIENT_BLOCKS);
    Tensor result = torch.empty_like(input);
    Tensor sums = device.empty(torch.ScalarType.Float, 2, blocks, width);
    kernel(kernels, "layer_norm_gradient")
        .launch(
            blocks,
            threads,
            orAbsent(incoming.getFirst()),
            orAbsent(incoming.size() > 1 ? incoming.get(1) : null),
            input,
            gamma,
            means,
            inverses,
            result,
            sums,
            rows,
            (int) width);
    TensorVector both = sums.sum(1).unbind(0);
    return List.of(result, new Tensor(both.get(0)), new Tensor(both.get(1)));
  }

  private static Object orAbsent(@Nullable Tensor gradient) {
    return gradient == null || !gradient.defined() ? GpuKernel.ABSENT : gradient.contiguous();
  }
}
