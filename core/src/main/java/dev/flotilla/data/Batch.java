package dev.flotilla.data;

import dev.flotilla.memory.ComputeDevice;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import org.bytedeco.javacpp.Pointer;
import org.bytedeco.pytorch.Tensor;

/**
 * Samples that go through the model together.
 *
 * <p>The tensors belong to the scope in which the batch was loaded. Most batches have one target
 * tensor, {@link #targets()}; a model with several heads has one for each.
 *
 * @param inputs what the first segment takes
 * @param allTargets what losses compare with, one or several tensors
 * @param samples number of samples; 0 when this rank has none in a ragged last batch
 * @param allHostTargets the targets in main memory, where what is in them can be counted without
 *     waiting for a device
 */
public record Batch(
    List<Tensor> inputs, List<Tensor> allTargets, int samples, List<Tensor> allHostTargets) {

  /** Copies the lists. */
  public Batch {
    inputs = List.copyOf(inputs);
    allTargets = List.copyOf(allTargets);
    allHostTargets = List.copyOf(allHostTargets);
    if (allTargets.size() != allHostTargets.size()) {
      throw new IllegalArgumentException(
          "%d targets cannot be the same as %d in main memory"
              .formatted(allTargets.size(), allHostTargets.size()));
    }
  }

  /** States a batch in main memory. */
  public Batch(List<Tensor> inputs, Tensor targets, int samples) {
    this(inputs, List.of(targets), samples);
  }

  /** States a batch with several targets in main memory. */
  public Batch(List<Tensor> inputs, List<Tensor> targets, int samples) {
    this(inputs, targets, samples, targets);
  }

  /**
   * Returns the only target tensor; a null handle for an empty batch.
   *
   * @throws IllegalStateException if there are several
   */
  public Tensor targets() {
    return only(allTargets);
  }

  /** Returns the only target tensor as it is in main memory. */
  public Tensor hostTargets() {
    return only(allHostTargets);
  }

  private static Tensor only(List<Tensor> targets) {
    if (targets.size() > 1) {
      throw new IllegalStateException(
          "the batch has %d targets, but one is asked for: choose with withTarget(index)"
              .formatted(targets.size()));
    }
    return targets.isEmpty() ? new Tensor((Pointer) null) : targets.getFirst();
  }

  /** Returns this batch with one of its targets as the only one. */
  public Batch withTarget(int index) {
    if (index < 0 || index >= allTargets.size()) {
      throw new IllegalArgumentException(
          "the batch has %d targets, so that index must be in [0, %d), but was %d"
              .formatted(allTargets.size(), allTargets.size(), index));
    }
    return new Batch(
        inputs, List.of(allTargets.get(index)), samples, List.of(allHostTargets.get(index)));
  }

  /** Returns this batch on a device, in the current scope, for one that is used often. */
  public Batch on(ComputeDevice device) {
    return isEmpty()
        ? this
        : new Batch(
            each(inputs, device::bring), each(allTargets, device::bring), samples, allHostTargets);
  }

  /** Returns this batch with its targets on a device, in the current scope. */
  public Batch withTargetsOn(ComputeDevice device) {
    return isEmpty() || !device.isCuda()
        ? this
        : new Batch(inputs, each(allTargets, device::bring), samples, allHostTargets);
  }

  /** Returns this batch in memory from which a device can copy by itself, in the current scope. */
  Batch pinned() {
    return isEmpty()
        ? this
        : new Batch(
            each(inputs, Tensor::pin_memory), each(allTargets, Tensor::pin_memory), samples);
  }

  private static List<Tensor> each(List<Tensor> tensors, UnaryOperator<Tensor> change) {
    return tensors.stream().map(change).toList();
  }

  /** Returns the batch of a rank that has no sample in this step, with which nothing native is. */
  public static Batch empty() {
    return new Batch(List.of(), List.of(), 0);
  }

  /** Tells whether this rank has no sample in this step and takes part with zeros. */
  public boolean isEmpty() {
    return samples == 0;
  }

  /**
   * Cuts this batch along its first axis into parts of equal size, the last one possibly smaller;
   * fewer parts where there are fewer samples. The parts are views in the caller's scope.
   */
  public List<Batch> split(int parts) {
    if (parts < 1) {
      throw new IllegalArgumentException("parts must be at least 1, but was " + parts);
    }
    int size = Math.ceilDiv(samples, parts);
    List<Batch> batches = new ArrayList<>();
    for (int from = 0; from < samples; from += size) {
      batches.add(part(from, Math.min(size, samples - from)));
    }
    return batches;
  }

  private Batch part(int from, int length) {
    UnaryOperator<Tensor> cut = tensor -> tensor.narrow(0, from, length);
    return new Batch(each(inputs, cut), each(allTargets, cut), length, each(allHostTargets, cut));
  }
}
