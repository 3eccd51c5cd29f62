package dev.flotilla.testkit;

import dev.flotilla.memory.ComputeDevice;
import dev.flotilla.memory.NativeView;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.pass.BoundModel;
import dev.flotilla.train.Trainer;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;
import org.bytedeco.pytorch.global.torch;

/**
 * A copy of a model's parameters and buffers on the Java heap, to compare after the trainer is
 * gone.
 *
 * @param values numbers by name
 */
public record Snapshot(Map<String, double[]> values) {

  /** Copies what a trainer's model holds now; all ranks call it together if they hold slices. */
  public static Snapshot of(Trainer trainer) {
    var model = trainer.model();
    return model.hasAllParameters() ? of(model) : trainer.read(Snapshot::of);
  }

  /** Copies the moving average of a trainer's weights; all ranks call it together. */
  public static Snapshot ofEma(Trainer trainer) {
    return trainer.readEma(Snapshot::of);
  }

  private static Snapshot of(BoundModel model) {
    Map<String, double[]> values = new TreeMap<>();
    try (var _ = TensorScope.open()) {
      model
          .state()
          .forEach(
              (name, tensor) -> {
                var host = ComputeDevice.CPU.bring(tensor.detach());
                var copy = host.to(torch.ScalarType.Double).contiguous();
                values.put(name, NativeView.of(copy).toArray(ValueLayout.JAVA_DOUBLE));
              });
    }
    return new Snapshot(values);
  }

  /** Returns the numbers of both, those of the other under names that begin with a prefix. */
  public Snapshot with(String prefix, Snapshot other) {
    Map<String, double[]> all = new TreeMap<>(values);
    other.values.forEach((name, numbers) -> all.put(prefix + name, numbers));
    return new Snapshot(all);
  }

  /** Tells whether all numbers are the same to the bit. */
  public boolean isSameAs(Snapshot other) {
    return values.keySet().equals(other.values.keySet())
        && values.entrySet().stream()
            .allMatch(entry -> Arrays.equals(entry.getValue(), other.values.get(entry.getKey())));
  }

  /** Returns the largest max|Δ| / max|w| over all tensors. */
  public double relativeDistance(Snapshot other) {
    double worst = 0;
    for (var name : values.keySet()) {
      worst = Math.max(worst, relativeDistance(name, other));
    }
    return worst;
  }

  /** Returns the Euclidean distance of all tensors. */
  public double distance(Snapshot other) {
    double sum = 0;
    for (var name : values.keySet()) {
      double[] ours = values.getOrDefault(name, new double[0]);
      double[] theirs = other.values.getOrDefault(name, new double[0]);
      for (int i = 0; i < ours.length; i++) {
        sum += (ours[i] - theirs[i]) * (ours[i] - theirs[i]);
      }
    }
    return Math.sqrt(sum);
  }

  /** Returns max|w| of one tensor. */
  public double largest(String name) {
    return Arrays.stream(values.getOrDefault(name, new double[0])).map(Math::abs).max().orElse(0);
  }

  /** Returns max|Δ| / max|w| of one tensor; 0 where both are all zero. */
  public double relativeDistance(String name, Snapshot other) {
    double[] ours = values.getOrDefault(name, new double[0]);
    double[] theirs = other.values.getOrDefault(name, new double[0]);
    if (ours.length != theirs.length) {
      return Double.POSITIVE_INFINITY;
    }
    double difference = 0;
    double size = 0;
    for (int i = 0; i < ours.length; i++) {
      difference = Math.max(difference, Math.abs(ours[i] - theirs[i]));
      size = Math.max(size, Math.abs(theirs[i]));
    }
    return difference == 0 ? 0 : difference / size;
  }
}
