package dev.flotilla.predict;

import dev.flotilla.config.SavedSamples;
import dev.flotilla.config.SavedWeights;
import dev.flotilla.data.Batch;
import dev.flotilla.data.Dataset;
import dev.flotilla.memory.DeviceChoice;
import dev.flotilla.memory.NativeView;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.memory.Tensors;
import dev.flotilla.model.Activations;
import dev.flotilla.model.Model;
import dev.flotilla.model.Shape;
import dev.flotilla.pass.BoundModel;
import dev.flotilla.pass.Inference;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.LongStream;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;

/**
 * Answers with a trained model: forward as evaluation does, no graph, on the CPU or a GPU.
 *
 * <pre>{@code
 * try (var predictor = Predictor.load(Path.of("runs/digits"))) {
 *   predictor.predict(images).forEach(System.out::println); // float[][], a row for each image
 * }
 * }</pre>
 *
 * <p>Thread-safe: any number of threads may predict at once, and get what one alone would. It is
 * closed when none of them does any more.
 */
public final class Predictor implements AutoCloseable {

  private final BoundModel model;
  private final Inference inference;
  private final SavedSamples samples;
  private volatile boolean isClosed;

  private Predictor(BoundModel model, SavedSamples samples) {
    this.model = model;
    this.inference = new Inference(model);
    this.samples = samples;
  }

  /**
   * Loads the model of a run, on a GPU where there is one.
   *
   * @param runOrCheckpoint folder of a run, or one of its checkpoints
   * @throws dev.flotilla.checkpoint.CheckpointException if there is no run, or no model in it
   */
  public static Predictor load(Path runOrCheckpoint) {
    return load(runOrCheckpoint, DeviceChoice.AUTO);
  }

  /** Loads the model of a run onto a device. */
  public static Predictor load(Path runOrCheckpoint, DeviceChoice device) {
    return load(runOrCheckpoint, SavedWeights.LIVE, device);
  }

  /**
   * Loads the model of a run, or its moving average, onto a device.
   *
   * @throws dev.flotilla.checkpoint.CheckpointException if the run keeps no moving average
   */
  public static Predictor load(Path runOrCheckpoint, SavedWeights weights, DeviceChoice device) {
    return load(ModelSource.of(runOrCheckpoint, weights), device);
  }

  /**
   * Loads weights into a model, on a GPU where there is one.
   *
   * @param weights a safetensors file, an index of several, a folder with either, or a {@code .pth}
   *     file
   * @throws dev.flotilla.checkpoint.CheckpointException if they do not fit the model
   */
  public static Predictor load(Path weights, Model model) {
    return load(weights, model, DeviceChoice.AUTO);
  }

  /** Loads weights into a model on a device. */
  public static Predictor load(Path weights, Model model, DeviceChoice device) {
    return load(ModelSource.of(weights, model), device);
  }

  private static Predictor load(ModelSource source, DeviceChoice device) {
    return new Predictor(source.load(device), source.samples());
  }

  /**
   * Returns the outputs of a batch, in the caller's scope; targets are not looked at.
   *
   * @throws dev.flotilla.pass.ModelException if the model cannot take the batch
   */
  public Activations predict(Batch batch) {
    if (isClosed) {
      throw new IllegalStateException("the predictor has been closed");
    }
    if (batch.isEmpty()) {
      throw new IllegalArgumentException("a batch to predict must have a sample");
    }
    return inference.run(batch);
  }

  /**
   * Returns the output for inputs, in the caller's scope.
   *
   * @param inputs what the model takes, samples along the first axis
   */
  public Tensor predict(Tensor... inputs) {
    if (inputs.length == 0 || inputs[0].dim() == 0) {
      throw new IllegalArgumentException("a batch to predict must have a sample");
    }
    int samples = Math.toIntExact(inputs[0].size(0));
    return predict(new Batch(List.of(inputs), inputs[0], samples)).only();
  }

  /**
   * Predicts samples of a data set.
   *
   * @param numbers which samples
   * @return a prediction for each, in order
   */
  public List<Prediction> predict(Dataset data, int... numbers) {
    if (numbers.length == 0) {
      return List.of();
    }
    try (var _ = TensorScope.open()) {
      return rows(data.load(numbers));
    }
  }

  private List<Prediction> rows(Batch batch) {
    var rows = OutputRows.of(predict(batch), batch.samples());
    return OutputRows.read(rows, model.objective(), samples.classNames());
  }

  /**
   * Predicts samples that are Java numbers.
   *
   * @param values the numbers of each sample, in the order of a dense tensor
   * @param shape of one sample; by default that of the images of the run's data, or a row
   * @return a prediction for each sample, in order
   */
  public List<Prediction> predict(float[][] values, long... shape) {
    if (values.length == 0) {
      return List.of();
    }
    try (var _ = TensorScope.open()) {
      var inputs = tensor(values, shape.length > 0 ? Shape.of(shape) : usualShape(values));
      return rows(new Batch(List.of(inputs), inputs, values.length));
    }
  }

  private Shape usualShape(float[][] values) {
    return samples.shape().isEmpty() ? Shape.of(values[0].length) : new Shape(samples.shape());
  }

  private static Tensor tensor(float[][] values, Shape shape) {
    int numbers = Math.toIntExact(shape.elements());
    var extents = LongStream.concat(LongStream.of(values.length), LongStream.of(shape.toArray()));
    var tensor = Tensors.empty(torch.ScalarType.Float, extents.toArray());
    var memory = NativeView.of(tensor);
    for (int i = 0; i < values.length; i++) {
      if (values[i].length != numbers) {
        throw new IllegalArgumentException(
            "sample %d has %d numbers, but shape %s wants %d"
                .formatted(i, values[i].length, shape, numbers));
      }
      long offset = (long) i * numbers * Float.BYTES;
      MemorySegment.copy(values[i], 0, memory, ValueLayout.JAVA_FLOAT, offset, numbers);
    }
    return tensor;
  }

  @Override
  public void close() {
    if (!isClosed) {
      isClosed = true;
      inference.close();
      model.close();
    }
  }
}
