package dev.flotilla.strategy.compress;

import dev.flotilla.memory.ComputeDevice;
import dev.flotilla.memory.NativeView;
import dev.flotilla.memory.TensorScope;
import java.util.List;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;

/** The passes of a compressed update over flat tensors of one rank, for benchmarks. */
public final class CompressionPasses implements AutoCloseable {

  private static final double SPARSITY = 0.999;
  private static final int RANKS = 2;
  private static final Rule RULE = new Rule(0.9, false, true);

  private final long elements;
  private final Tensor gradient;
  private final Tensor noise;
  private final Tensor velocity;
  private final Tensor residual;
  private final Tensor weight;
  private final ComputeDevice device;
  private final BucketCompressor bucket;
  private final Runnable selection;
  private final int kept;

  /** Makes tensors of normal deviates. */
  public CompressionPasses(long elements, ComputeDevice device) {
    this.elements = elements;
    this.device = device;
    this.kept = Ramp.kept(elements, SPARSITY);
    try (var _ = TensorScope.open()) {
      gradient = TensorScope.keep(device.bring(torch.randn(elements)));
      noise = TensorScope.keep(gradient.clone());
      velocity = TensorScope.keep(gradient.new_zeros(elements));
      residual = TensorScope.keep(device.bring(torch.randn(elements)));
      weight = TensorScope.keep(device.bring(torch.randn(elements)));
    }
    if (device.isCuda()) {
      bucket = onDevice();
      var selector = new DeviceSelector(Selection.SAMPLED, residual, elements);
      selection = () -> TensorScope.free(selector.choose(kept, Selector.NO_THRESHOLD, null));
    } else {
      var fields = List.of(field());
      bucket = new CpuBucket(new Dgc(), RULE, fields, (int) elements, RANKS);
      var selector = new Selector(Selection.SAMPLED);
      selector.allocate(kept, elements);
      selection =
          () -> {
            selector.candidates().clear();
            selector.choose(fields, elements, kept, Selector.NO_THRESHOLD);
          };
    }
    bucket.sparsity(SPARSITY);
  }

  private Field field() {
    return new Field(
        0,
        0,
        NativeView.of(gradient),
        NativeView.of(velocity),
        NativeView.of(residual),
        NativeView.of(weight));
  }

  private BucketCompressor onDevice() {
    try (var _ = TensorScope.open()) {
      var field = DeviceField.whole(part(gradient), part(velocity), part(residual), part(weight));
      return new DeviceBucket(new Dgc(), RULE, field, (int) elements, RANKS);
    }
  }

  private Tensor part(Tensor whole) {
    return TensorScope.keep(whole.narrow(0, 0, elements));
  }

  /** Puts a new gradient in place. */
  public void backward() {
    gradient.copy_(noise);
  }

  /** Corrects, chooses, writes the message, and applies two ranks' messages. */
  public void update() {
    bucket.compress(1e-3);
    try (var _ = TensorScope.open()) {
      long words = bucket.message().numel();
      for (int rank = 0; rank < RANKS; rank++) {
        bucket.messages().narrow(0, rank * words, words).copy_(bucket.message());
      }
    }
    bucket.add();
    bucket.apply(1e-6);
  }

  /** Chooses from the residual with a threshold from a sample. */
  public void select() {
    selection.run();
  }

  /** Chooses as {@code topk} does. */
  public void topk() {
    try (var _ = TensorScope.open()) {
      residual.abs().topk(kept);
    }
  }

  /** Tells whether the passes run on a GPU. */
  public boolean isOnDevice() {
    return device.isCuda();
  }

  /** Waits until all passes are done. */
  public void finish() {
    device.synchronize();
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
