package dev.flotilla.strategy.compress;

import dev.flotilla.memory.NativeView;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.memory.Tensors;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;

/** The passes of a compressed update over flat tensors of one rank, for benchmarks. */
public final class CompressionPasses implements AutoCloseable {

  private static final double SPARSITY = 0.999;

  private final long elements;
  private final Tensor gradient;
  private final Tensor noise;
  private final Tensor velocity;
  private final Tensor residual;
  private final Tensor weight;
  private final List<Field> fields;
  private final CpuBucket bucket;
  private final Selector selector = new Selector(Selection.SAMPLED);
  private final int kept;

  /** Makes tensors of normal deviates. */
  public CompressionPasses(long elements) {
    this.elements = elements;
    this.kept = Ramp.kept(elements, SPARSITY);
    try (var _ = TensorScope.open()) {
      gradient = TensorScope.keep(torch.randn(elements));
      noise = TensorScope.keep(gradient.clone());
      velocity = TensorScope.keep(Tensors.zeros(torch.ScalarType.Float, elements));
      residual = TensorScope.keep(torch.randn(elements));
      weight = TensorScope.keep(torch.randn(elements));
    }
    fields =
        List.of(
            new Field(
                0,
                0,
                NativeView.of(gradient),
                NativeView.of(velocity),
                NativeView.of(residual),
                NativeView.of(weight)));
    bucket = new CpuBucket(new Dgc(), new Rule(0.9, false, true), fields, (int) elements, 2);
    bucket.sparsity(SPARSITY);
    selector.allocate(kept, elements);
  }

  /** Puts a new gradient in place. */
  public void backward() {
    gradient.copy_(noise);
  }

  /** Corrects, chooses, writes the message, and applies two ranks' messages. */
  public void update() {
    bucket.compress(1e-3);
    var own = NativeView.of(bucket.message());
    var all = NativeView.of(bucket.messages());
    MemorySegment.copy(own, 0, all, 0, own.byteSize());
    MemorySegment.copy(own, 0, all, own.byteSize(), own.byteSize());
    bucket.add();
    bucket.apply(1e-6);
  }

  /** Chooses from the residual with a threshold from a sample, and returns how many. */
  public int select() {
    var found = selector.candidates();
    found.clear();
    selector.choose(fields, elements, kept, Selector.NO_THRESHOLD);
    return found.count();
  }

  /** Chooses as {@code topk} does. */
  public void topk() {
    try (var _ = TensorScope.open()) {
      residual.abs().topk(kept);
    }
  }

  /** Reads the residual once. */
  public void read() {
    try (var _ = TensorScope.open()) {
      residual.amax();
    }
  }

  @Override
  public void close() {
    bucket.close();
    List.of(gradient, noise, velocity, residual, weight).forEach(TensorScope::free);
  }
}
