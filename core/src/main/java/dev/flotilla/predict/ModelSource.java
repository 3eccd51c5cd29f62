package dev.flotilla.predict;

import dev.flotilla.checkpoint.PublishedWeights;
import dev.flotilla.config.SavedRun;
import dev.flotilla.config.SavedSamples;
import dev.flotilla.config.SavedWeights;
import dev.flotilla.memory.DeviceChoice;
import dev.flotilla.memory.NativeLibraries;
import dev.flotilla.memory.Precision;
import dev.flotilla.model.Model;
import dev.flotilla.pass.BoundModel;
import java.nio.file.Path;
import java.util.List;

/**
 * A model, where its weights are, and what is known of its samples.
 *
 * @param digest what the weights' digest must be; empty where nobody has noted it
 * @param normalization how the numbers of a sample are made; empty where that is not known
 */
record ModelSource(
    Path weights,
    Model model,
    Precision precision,
    SavedSamples samples,
    String digest,
    String normalization) {

  /** Finds the model of a run, or of one of its checkpoints. */
  static ModelSource of(Path runOrCheckpoint, SavedWeights which) {
    var run = SavedRun.runOf(runOrCheckpoint);
    var config = SavedRun.config(run, List.of());
    return new ModelSource(
        SavedRun.model(runOrCheckpoint, which),
        config.trained(),
        config.precision(),
        SavedSamples.in(run, config),
        SavedRun.weightsDigest(runOrCheckpoint, which).orElse(""),
        config.data().normalization());
  }

  /** Describes weights that somebody has a model for. */
  static ModelSource of(Path weights, Model model) {
    var samples = new SavedSamples(List.of(), List.of());
    return new ModelSource(weights, model, Precision.FLOAT32, samples, "", "");
  }

  /** Makes the model on a device and loads its weights; the caller closes it. */
  BoundModel load(DeviceChoice device) {
    try (var published = PublishedWeights.open(weights)) {
      NativeLibraries.load();
      var place = device.resolve(0, 1, List.of(), _ -> {});
      place.computeExactly();
      // Nothing is trained here, so nothing needs a gradient.
      var bound = new BoundModel(model, precision, place, 0, _ -> true);
      try {
        published.fit(bound.state(), model.aliases()).requireExact().copy();
        return bound;
      } catch (RuntimeException failure) {
        bound.close();
        throw failure;
      }
    }
  }
}
