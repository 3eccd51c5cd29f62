package dev.flotilla.predict;

import dev.flotilla.checkpoint.CheckpointException;
import dev.flotilla.checkpoint.SafetensorsWriter;
import dev.flotilla.checkpoint.WeightsDigest;
import dev.flotilla.checkpoint.WholeFile;
import dev.flotilla.config.SavedWeights;
import dev.flotilla.memory.DeviceChoice;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.model.Model;
import dev.flotilla.model.Shape;
import dev.flotilla.onnx.OnnxGraph;
import dev.flotilla.onnx.OnnxModel;
import dev.flotilla.onnx.OnnxValue;
import dev.flotilla.pass.BoundModel;
import dev.flotilla.settings.ConfigException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.LongStream;
import org.bytedeco.pytorch.Tensor;
import tools.jackson.databind.json.JsonMapper;

/**
 * Writes a trained model for others to use: as ONNX, with everything it computes, or its weights as
 * safetensors.
 *
 * <pre>{@code
 * ModelExport.of(Path.of("runs/digits")).toOnnx(Path.of("digits.onnx"));
 * }</pre>
 *
 * <p>The name of a file stands for all of it or for nothing. What is there already is refused,
 * unless {@link #replacing} says otherwise.
 */
public final class ModelExport {

  private final ModelSource source;
  private final List<Long> sampleShape;
  private final boolean isReplacing;

  private ModelExport(ModelSource source, List<Long> sampleShape, boolean isReplacing) {
    this.source = source;
    this.sampleShape = sampleShape;
    this.isReplacing = isReplacing;
  }

  /**
   * Exports the model of a run.
   *
   * @param runOrCheckpoint folder of a run, or one of its checkpoints
   * @throws CheckpointException if there is no run, or a checkpoint is damaged
   */
  public static ModelExport of(Path runOrCheckpoint) {
    return of(runOrCheckpoint, SavedWeights.LIVE);
  }

  /**
   * Exports the model of a run, or its moving average.
   *
   * @throws CheckpointException if the run keeps no moving average
   */
  public static ModelExport of(Path runOrCheckpoint, SavedWeights weights) {
    return of(ModelSource.of(runOrCheckpoint, weights));
  }

  /**
   * Exports weights that a model has been trained to.
   *
   * @param weights what {@link Predictor#load(Path, Model)} takes
   */
  public static ModelExport of(Path weights, Model model) {
    return of(ModelSource.of(weights, model));
  }

  private static ModelExport of(ModelSource source) {
    return new ModelExport(source, source.samples().shape(), false);
  }

  /** States the shape of one sample, which ONNX wants to know and a run mostly knows itself. */
  public ModelExport withSampleShape(long... extents) {
    if (extents.length == 0 || LongStream.of(extents).anyMatch(extent -> extent < 1)) {
      throw new ConfigException("shape", "must hold extents of at least 1, for example 3x224x224");
    }
    return new ModelExport(source, LongStream.of(extents).boxed().toList(), isReplacing);
  }

  /** Replaces files that are there already, in one instant when the new one is whole. */
  public ModelExport replacing() {
    return new ModelExport(source, sampleShape, true);
  }

  /**
   * Writes what the model computes in evaluation as ONNX, all numbers in float32. The number of
   * samples is free, and so is the length of sequences.
   *
   * @throws ConfigException if the model has a segment that is not {@link
   *     dev.flotilla.onnx.OnnxExportable}, as any module of libtorch, or samples do not fit
   * @throws CheckpointException if weights cannot be read, do not fit, or cannot be written
   */
  public ExportedFile toOnnx(Path file) {
    var description = new OnnxDescription(source.model(), sampleShape);
    description.check();
    checkFile(file);
    try (var bound = load();
        var _ = TensorScope.open()) {
      var state = bound.state();
      var graph = description.build(state);
      var onnx = onnx(graph, metadata(state));
      WholeFile.write(file, onnx::writeTo);
      return exported(file, texts(graph.inputs()), texts(graph.outputs()));
    }
  }

  private OnnxModel onnx(OnnxGraph graph, SortedMap<String, String> metadata) {
    try {
      return new OnnxModel(graph, source.model().name(), doc(), metadata);
    } catch (IllegalArgumentException tooLarge) {
      throw new ConfigException("format", tooLarge.getMessage() + "; export safetensors instead");
    }
  }

  /**
   * Writes the weights as safetensors, under the names of PyTorch's state dict.
   *
   * @throws CheckpointException if weights cannot be read, do not fit, or cannot be written
   */
  public ExportedFile toSafetensors(Path file) {
    checkFile(file);
    try (var bound = load()) {
      var state = bound.state();
      SafetensorsWriter.write(file, state, metadata(state));
      return exported(file, List.of(), List.of());
    }
  }

  private BoundModel load() {
    return source.load(DeviceChoice.CPU);
  }

  private void checkFile(Path file) {
    if (Files.isDirectory(file)) {
      throw problem("%s is a folder; name a file", file);
    }
    // What is no folder is not the root, and so has one around it.
    var folder = Objects.requireNonNull(file.toAbsolutePath().normalize().getParent());
    if (!Files.isDirectory(folder)) {
      throw problem("there is no folder %s; make it, or name another", folder);
    }
    if (!Files.isWritable(folder)) {
      throw problem("cannot write into %s; name another folder", folder);
    }
    if (Files.exists(file) && !isReplacing) {
      throw problem(
          "%s is there already; name another file, or replace it with --force (in Java:"
              + " replacing())",
          file);
    }
  }

  private static ConfigException problem(String format, Object value) {
    return new ConfigException("out", format.formatted(value));
  }

  /** Returns what programs may want to know, once it is sure that these are the run's weights. */
  private SortedMap<String, String> metadata(Map<String, Tensor> state) {
    String digest = WeightsDigest.of(state);
    if (!source.digest().isEmpty() && !source.digest().equals(digest)) {
      throw new CheckpointException(
          "%s is not what the run has saved: its weights_sha256 is %s, but summary.json says %s"
              .formatted(source.weights(), digest, source.digest()));
    }
    SortedMap<String, String> metadata = new TreeMap<>();
    metadata.put("model", source.model().name());
    metadata.put("task", source.model().objective().task().name().toLowerCase(Locale.ROOT));
    metadata.put("weights_sha256", digest);
    if (!sampleShape.isEmpty()) {
      metadata.put("sample_shape", new Shape(sampleShape).toString());
    }
    if (!source.samples().classNames().isEmpty()) {
      var names = source.samples().classNames();
      metadata.put("class_names", JsonMapper.shared().writeValueAsString(names));
    }
    if (!source.normalization().isEmpty()) {
      metadata.put("normalization", source.normalization());
    }
    return metadata;
  }

  private String doc() {
    String what = source.model().name() + " in evaluation, exported by Flotilla.";
    return source.normalization().isEmpty()
        ? what
        : what + " Inputs are normalised: " + source.normalization() + ".";
  }

  private static List<String> texts(List<OnnxValue> values) {
    return values.stream().map(OnnxValue::toString).toList();
  }

  private ExportedFile exported(Path file, List<String> inputs, List<String> outputs) {
    try {
      return new ExportedFile(
          file, source.model().parameterCount(), Files.size(file), inputs, outputs);
    } catch (IOException failure) {
      throw new UncheckedIOException("cannot read " + file, failure);
    }
  }
}
