package dev.flotilla.strategy.compress;

import dev.flotilla.memory.TensorScope;
import java.util.List;
import org.bytedeco.pytorch.Tensor;

/**
 * Compresses what lies on a GPU by way of main memory: gradient, velocity, residual and weight go
 * there, the CPU's passes run over them, and the results go back.
 *
 * <p>Costs seven passes over the bus for a window, which is little against the wire that asks for
 * compression.
 */
final class StagedBucket implements BucketCompressor {

  /** One stretch of one tensor, there and here; both are kept. */
  record Mirror(Tensor device, Tensor host) {

    void fetch() {
      host.copy_(device);
    }

    void bringBack() {
      device.copy_(host);
    }

    void free() {
      TensorScope.free(device);
      TensorScope.free(host);
    }
  }

  /** The mirrors of one compressed stretch. */
  record Stage(Mirror gradient, Mirror velocity, Mirror residual, Mirror weight) {

    List<Mirror> all() {
      return List.of(gradient, velocity, residual, weight);
    }
  }

  private final BucketCompressor inner;
  private final List<Stage> stages;

  /** Takes a compressor of the mirrors' memory in main memory; owns both. */
  StagedBucket(BucketCompressor inner, List<Stage> stages) {
    this.inner = inner;
    this.stages = List.copyOf(stages);
  }

  @Override
  public void sparsity(double share) {
    inner.sparsity(share);
  }

  @Override
  public long elements() {
    return inner.elements();
  }

  @Override
  public int capacity() {
    return inner.capacity();
  }

  @Override
  public Tensor message() {
    return inner.message();
  }

  @Override
  public Tensor messages() {
    return inner.messages();
  }

  @Override
  public void compress(double factor) {
    stages.forEach(stage -> stage.all().forEach(Mirror::fetch));
    inner.compress(factor);
    for (var stage : stages) {
      stage.velocity().bringBack();
      stage.residual().bringBack();
    }
  }

  @Override
  public void add() {
    inner.add();
  }

  @Override
  public void apply(double lr) {
    inner.apply(lr);
    stages.forEach(stage -> stage.weight().bringBack());
  }

  @Override
  public long received() {
    return inner.received();
  }

  @Override
  public int threshold() {
    return inner.threshold();
  }

  @Override
  public void threshold(int threshold) {
    inner.threshold(threshold);
  }

  @Override
  public void close() {
    inner.close();
    stages.forEach(stage -> stage.all().forEach(Mirror::free));
  }
}
