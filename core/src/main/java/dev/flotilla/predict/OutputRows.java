package dev.flotilla.predict;

import dev.flotilla.memory.ComputeDevice;
import dev.flotilla.memory.NativeView;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.model.Activations;
import dev.flotilla.model.Objective;
import dev.flotilla.model.Shape;
import dev.flotilla.model.Task;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;

/** Reads outputs as one row of numbers per sample. */
final class OutputRows {

  private OutputRows() {}

  /**
   * Returns outputs as a float64 matrix in main memory, samples x numbers, in the current scope.
   *
   * @throws IllegalArgumentException if there is not one row for each sample
   */
  static Tensor of(Activations outputs, long samples) {
    if (outputs.tensors().size() != 1) {
      throw new IllegalArgumentException(
          "the model gives %d tensors for a batch, and cannot be asked sample by sample"
                  .formatted(outputs.tensors().size())
              + "; call predict(Batch)");
    }
    try (var scope = TensorScope.open()) {
      var tensor = outputs.only();
      if (tensor.dim() == 0 || tensor.size(0) != samples) {
        throw new IllegalArgumentException(
            "the model gives %s for %d samples, not a row for each; call predict(Batch)"
                .formatted(Shape.of(tensor.shape()), samples));
      }
      var rows = ComputeDevice.CPU.bring(tensor).to(torch.ScalarType.Double);
      return scope.handOut(rows.reshape(samples, -1).contiguous());
    }
  }

  /** Reads each row as what the objective asked for. */
  static List<Prediction> read(Tensor rows, Objective objective, List<String> classNames) {
    var values = NativeView.of(rows).toArray(ValueLayout.JAVA_DOUBLE);
    int width = Math.toIntExact(rows.size(1));
    // Names of other data than the model was made for would name wrong classes.
    List<String> names = classNames.size() == width ? classNames : List.of();
    List<Prediction> read = new ArrayList<>();
    for (int from = 0; from < values.length; from += width) {
      var row = Arrays.copyOfRange(values, from, from + width);
      read.add(
          objective.task() == Task.CLASSIFICATION
              ? Prediction.ofLogits(row, names)
              : Prediction.ofNumbers(row));
    }
    return read;
  }
}
