package dev.flotilla.zoo.model;

import dev.flotilla.memory.ComputeDevice;
import dev.flotilla.memory.DeviceTimer;
import dev.flotilla.memory.KernelChoices;
import dev.flotilla.memory.Operator.Absent;
import dev.flotilla.memory.TensorScope;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import org.bytedeco.pytorch.AutoGradMode;
import org.bytedeco.pytorch.BoolOptional;
import org.bytedeco.pytorch.Context;
import org.bytedeco.pytorch.DoubleOptional;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.TensorArrayRefOptional;
import org.bytedeco.pytorch.TensorOptional;
import org.bytedeco.pytorch.global.torch;

/**
 * Finds the quickest of libtorch's kernels for attention on a GPU, by a short trial at the first
 * pass with given sizes, type and dropout, and remembers it as long as the process lives.
 *
 * <p>The kernel that libtorch would take stays unless another one is clearly quicker, so that runs
 * do not differ by chance; and it always stays where deterministic kernels are asked for. A trial
 * draws no random number that training would draw.
 */
final class AttentionTrial {

  /** Share of the time of libtorch's choice that another kernel may take at most. */
  private static final double CLEARLY_QUICKER = 0.95;

  /** Sizes that are tried; data of ever other lengths must not spend their time on trials. */
  private static final int MOST_TRIALS = 8;

  private static final int ROUNDS = 3;
  private static final Map<Sizes, Optional<Kernel>> FOUND = new HashMap<>();

  /** Kernels, by the numbers that libtorch gives them. */
  enum Kernel {
    FLASH(1),
    EFFICIENT(2),
    CUDNN(3);

    private final long number;

    Kernel(long number) {
      this.number = number;
    }

    static Optional<Kernel> of(long number) {
      for (var kernel : values()) {
        if (kernel.number == number) {
          return Optional.of(kernel);
        }
      }
      return Optional.empty();
    }
  }

  private record Sizes(
      ComputeDevice device,
      torch.ScalarType type,
      long batch,
      long heads,
      long rows,
      long keys,
      long width,
      double dropout) {

    static Sizes of(Tensor query, Tensor key, double dropout) {
      return new Sizes(
          ComputeDevice.of(query),
          query.scalar_type().intern(),
          query.size(0),
          query.size(1),
          query.size(2),
          key.size(2),
          query.size(3),
          dropout);
    }

    String text() {
      return "attention, %d x %d heads x %d x %d of %d, %s, dropout %s"
          .formatted(
              batch, heads, rows, keys, width, type.name().toLowerCase(Locale.ROOT), dropout);
    }
  }

  private AttentionTrial() {}

  /**
   * Runs what asks libtorch for attention in training, or for its choice, so that it takes the
   * quickest kernel.
   *
   * @param query by batch, head, row and column, on a GPU
   */
  static <T> T quickest(
      Tensor query, Tensor key, Tensor value, double dropout, Supplier<T> attention) {
    var context = torch.globalContext();
    if (context.deterministicAlgorithms()) {
      return attention.get();
    }
    var sizes = Sizes.of(query, key, dropout);
    Optional<Kernel> kernel;
    synchronized (FOUND) {
      var known = FOUND.get(sizes);
      kernel = known == null ? found(sizes, query, key, value, context) : known;
    }
    return kernel.isEmpty() ? attention.get() : only(kernel.get(), context, attention);
  }

  private static Optional<Kernel> found(
      Sizes sizes, Tensor query, Tensor key, Tensor value, Context context) {
    Optional<Kernel> kernel = Optional.empty();
    if (FOUND.size() < MOST_TRIALS) {
      try (var _ = TensorScope.open()) {
        kernel = tried(sizes, query, key, value, context);
      }
    }
    FOUND.put(sizes, kernel);
    return kernel;
  }

  /** Returns the kernel to take in place of libtorch's choice, if there is one. */
  private static Optional<Kernel> tried(
      Sizes sizes, Tensor query, Tensor key, Tensor value, Context context) {
    var usual = choice(query, key, value, sizes.dropout());
    if (usual.isEmpty()) {
      return Optional.empty();
    }
    var generator = sizes.device().generator();
    var numbers = generator.get_state();
    var seconds = new EnumMap<Kernel, Double>(Kernel.class);
    try {
      for (var kernel : Kernel.values()) {
        only(
                kernel,
                context,
                () ->
                    choice(query, key, value, sizes.dropout())
                        .filter(kernel::equals)
                        .map(_ -> seconds(sizes, query, key, value)))
            .ifPresent(it -> seconds.put(kernel, it));
      }
    } finally {
      generator.set_state(numbers);
    }
    var best = pick(usual.get(), seconds);
    KernelChoices.note(sizes.text(), text(best, seconds));
    return best == usual.get() ? Optional.empty() : Optional.of(best);
  }

  /** Returns the quickest, and libtorch's choice unless another one is clearly quicker. */
  static Kernel pick(Kernel usual, Map<Kernel, Double> seconds) {
    double limit = CLEARLY_QUICKER * seconds.getOrDefault(usual, 0.0);
    var best = usual;
    for (var kernel : Kernel.values()) {
      double it = seconds.getOrDefault(kernel, Double.POSITIVE_INFINITY);
      if (kernel != usual && it < limit) {
        best = kernel;
        limit = it;
      }
    }
    return best;
  }

  private static String text(Kernel best, Map<Kernel, Double> seconds) {
    var all = new StringBuilder(best.name().toLowerCase(Locale.ROOT)).append(":");
    seconds.forEach(
        (kernel, it) ->
            all.append(
                String.format(
                    Locale.ROOT, " %s %.3f ms", kernel.name().toLowerCase(Locale.ROOT), 1e3 * it)));
    return all.toString();
  }

  private static Optional<Kernel> choice(Tensor query, Tensor key, Tensor value, double dropout) {
    return Kernel.of(
        AttentionFunction.Operators.CHOICE.number(
            query, key, value, Absent.NONE, dropout, false, Absent.NONE, false));
  }

  /** Runs something while libtorch may take one kernel alone. */
  private static <T> T only(Kernel kernel, Context context, Supplier<T> attention) {
    boolean isFlash = context.userEnabledFlashSDP();
    boolean isEfficient = context.userEnabledMemEfficientSDP();
    boolean isCudnn = context.userEnabledCuDNNSDP();
    context.setSDPUseFlash(isFlash && kernel == Kernel.FLASH);
    context.setSDPUseMemEfficient(isEfficient && kernel == Kernel.EFFICIENT);
    context.setSDPUseCuDNN(isCudnn && kernel == Kernel.CUDNN);
    try {
      return attention.get();
    } finally {
      context.setSDPUseFlash(isFlash);
      context.setSDPUseMemEfficient(isEfficient);
      context.setSDPUseCuDNN(isCudnn);
    }
  }

  /** Returns the device's time for a pass forward and backward. */
  private static double seconds(Sizes sizes, Tensor query, Tensor key, Tensor value) {
    Runnable rounds =
        () -> {
          for (int i = 0; i < ROUNDS; i++) {
            run(sizes, query, key, value);
          }
        };
    try {
      return DeviceTimer.seconds(sizes.device(), rounds) / ROUNDS;
    } catch (RuntimeException unable) {
      return Double.POSITIVE_INFINITY;
    }
  }

  private static void run(Sizes sizes, Tensor query, Tensor key, Tensor value) {
    try (var _ = TensorScope.open();
        var _ = new AutoGradMode(true)) {
      var result =
          torch.scaled_dot_product_attention(
              leaf(query),
              leaf(key),
              leaf(value),
              new TensorOptional(),
              sizes.dropout(),
              false,
              new DoubleOptional(),
              false);
      result.backward(
          result.detach(), new BoolOptional(false), false, new TensorArrayRefOptional());
    }
  }

  private static Tensor leaf(Tensor tensor) {
    return tensor.detach().set_requires_grad(true);
  }
}
