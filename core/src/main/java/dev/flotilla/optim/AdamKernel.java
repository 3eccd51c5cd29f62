package dev.flotilla.optim;

import dev.flotilla.memory.ComputeDevice;
import dev.flotilla.memory.GpuKernel;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.memory.Tensors;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.LongStream;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;
import org.jspecify.annotations.Nullable;

/**
 * Adam or AdamW over all slices of a group as one kernel of our own: libtorch's starts one after
 * the other that leave a large GPU half empty.
 */
final class AdamKernel implements AutoCloseable {

  private static final int THREADS = 256;

  /** Elements of a block. */
  private static final long PIECE = 1 << 14;

  /** Parameter, gradient, both moments, and how many. */
  private static final int NUMBERS = 5;

  private static final Map<Wanted, Optional<GpuKernel>> KERNELS = new ConcurrentHashMap<>();

  /** Slices that have to be brought to the device lie elsewhere each time. */
  private static final int MOST_TABLES = 64;

  private final boolean isDecoupled;
  private final Map<Places, Tensor> tables = new HashMap<>();

  private record Wanted(ComputeDevice device, boolean isDecoupled) {}

  /** Where slices lie, and how long they are. */
  private record Places(List<Long> numbers) {

    static Places of(Packed slices) {
      List<Long> numbers = new ArrayList<>();
      for (int i = 0; i < slices.count(); i++) {
        var slice = slices.slices().get(i);
        numbers.add(address(slice.parameter()));
        numbers.add(address(slice.gradient()));
        numbers.add(address(slices.kinds().get(0).get(i)));
        numbers.add(address(slices.kinds().get(1).get(i)));
        numbers.add(slice.parameter().numel());
      }
      return new Places(numbers);
    }

    private static long address(Tensor tensor) {
      try (var pointer = tensor.data_ptr()) {
        return pointer.address();
      }
    }

    /** Cuts them into pieces. */
    long[] pieces() {
      var pieces = LongStream.builder();
      for (int at = 0; at < numbers.size(); at += NUMBERS) {
        long length = numbers.get(at + NUMBERS - 1);
        for (long from = 0; from < length; from += PIECE) {
          for (int i = 0; i < NUMBERS - 1; i++) {
            pieces.add(numbers.get(at + i) + from * Float.BYTES);
          }
          pieces.add(Math.min(PIECE, length - from));
        }
      }
      return pieces.build().toArray();
    }
  }

  /** Numbers of the rule. */
  record Rule(double lr, double beta1, double beta2, double decay, double eps) {}

  /**
   * Creates it.
   *
   * @param isDecoupled whether weight decay is AdamW's
   */
  AdamKernel(boolean isDecoupled) {
    this.isDecoupled = isDecoupled;
  }

  /**
   * Updates slices.
   *
   * @param count of updates, with this one
   * @param found an update is left out if it is 1; null to make it anyhow
   * @return whether they are slices that it takes, and the host can compile it
   */
  boolean update(Packed slices, Rule rule, Tensor count, @Nullable Tensor found) {
    var first = slices.slices().getFirst().parameter();
    if (!first.is_cuda() || first.scalar_type().intern() != torch.ScalarType.Float) {
      return false;
    }
    var wanted = new Wanted(ComputeDevice.of(first), isDecoupled);
    var kernel = KERNELS.computeIfAbsent(wanted, AdamKernel::compile);
    kernel.ifPresent(
        it -> launch(it, slices, rule, count, found == null ? GpuKernel.ABSENT : found));
    return kernel.isPresent();
  }

  private static Optional<GpuKernel> compile(Wanted wanted) {
    String source = "adam.cu";
    var text = AdamKernel.class.getResourceAsStream(source);
    var options = List.of("-DTHREADS=" + THREADS, "-DDECOUPLED=" + (wanted.isDecoupled() ? 1 : 0));
    return GpuKernel.compile(wanted.device(), source, text, options, List.of("adam"))
        .map(kernels -> kernels.get("adam"));
  }

  private void launch(GpuKernel kernel, Packed slices, Rule rule, Tensor count, Object found) {
    var table = table(Places.of(slices), ComputeDevice.of(count));
    kernel.launch(
        Math.toIntExact(table.numel() / NUMBERS),
        THREADS,
        table,
        rule.lr(),
        rule.beta1(),
        rule.beta2(),
        rule.decay(),
        rule.eps(),
        count,
        found);
  }

  private Tensor table(Places places, ComputeDevice device) {
    var known = tables.get(places);
    if (known != null) {
      return known;
    }
    if (tables.size() == MOST_TABLES) {
      close();
    }
    try (var _ = TensorScope.open()) {
      var table = TensorScope.keep(device.bring(Tensors.ofLongs(places.pieces())));
      tables.put(places, table);
      return table;
    }
  }

  @Override
  public void close() {
    tables.values().forEach(TensorScope::free);
    tables.clear();
  }
}
