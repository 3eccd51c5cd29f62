package dev.flotilla.data;

import dev.flotilla.memory.ComputeDevice;
import java.util.ArrayList;
import java.util.List;
import org.bytedeco.javacpp.Pointer;
import org.bytedeco.pytorch.Tensor;

/**
 * Samples that go through the model together.
 *
 * <p>The tensors belong to the scope in which the batch was loaded.
 *
 * @param inputs what the first segment takes
 * @param targets what the loss compares with
 * @param samples number of samples; 0 when this rank has none in a ragged last batch
 * @param hostTargets the targets in main memory, where what is in them can be counted without
 *     waiting for a device
 */
public record Batch(List<Tensor> inputs, Tensor targets, int samples, Tensor hostTargets) {

  /** States a batch in main memory. */
  public Batch(List<Tensor> inputs, Tensor targets, int samples) {
    this(inputs, targets, samples, targets);
  }

  /** Returns this batch on a device, in the current scope, for one that is used often. */
  public Batch on(ComputeDevice device) {
    var moved = inputs.stream().map(device::bring).toList();
    return isEmpty() ? this : new Batch(moved, device.bring(targets), samples, hostTargets);
  }

  /** Returns this batch with its targets on a device, in the current scope. */
  public Batch withTargetsOn(ComputeDevice device) {
    return isEmpty() || !device.isCuda()
        ? this
        : new Batch(inputs, device.bring(targets), samples, hostTargets);
  }

  /** Returns this batch in memory from which a device can copy by itself, in the current scope. */
  Batch pinned() {
    return isEmpty()
        ? this
        : new Batch(
            inputs.stream().map(Tensor::pin_memory).toList(), targets.pin_memory(), samples);
  }

  /**
   * Returns the batch of a rank that has no sample in this step: no input, and targets that are a
   * null handle, so that nothing native is made.
   */
  public static Batch empty() {
    return new Batch(List.of(), new Tensor((Pointer) null), 0);
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
    var cut = inputs.stream().map(input -> input.narrow(0, from, length)).toList();
    return new Batch(
        cut, targets.narrow(0, from, length), length, hostTargets.narrow(0, from, length));
  }
}
