package dev.flotilla.model;

import dev.flotilla.data.SampleForm;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiFunction;
import org.bytedeco.pytorch.Module;
import org.bytedeco.pytorch.Tensor;

/**
 * A chain of segments with the objective it is trained for.
 *
 * <p>Models of the zoo are settings records listed in the catalogue; {@link #of} takes a user's own
 * module as one segment.
 */
public interface Model {

  /** Returns the name that reports use. */
  String name();

  /** Returns the segments in forward order. */
  List<Segment> segments();

  /** Returns the loss and the score that this model is trained for. */
  Objective objective();

  /**
   * Checks, without native code, that samples of this form can go through; by default any may.
   *
   * @throws dev.flotilla.settings.ConfigException with keys of this model that do not fit
   */
  default void checkSamples(SampleForm form) {}

  /** Returns all parameters in forward order, tied ones once. */
  default List<ParameterSpec> parameters() {
    Map<String, ParameterSpec> byName = new LinkedHashMap<>();
    for (var segment : segments()) {
      segment.parameters().forEach(spec -> byName.putIfAbsent(spec.name(), spec));
    }
    return List.copyOf(byName.values());
  }

  /** Returns all buffers in forward order. */
  default List<BufferSpec> buffers() {
    return segments().stream().flatMap(segment -> segment.buffers().stream()).toList();
  }

  /**
   * Returns other names under which files may hold a parameter or buffer, each with its own name:
   * where a parameter is tied, some publish it once for every place that uses it.
   */
  default Map<String, String> aliases() {
    return Map.of();
  }

  /**
   * Returns what a {@code config.json} beside the weights says, by which other libraries know how
   * to load them; empty where none is usual.
   */
  default Map<String, Object> configuration() {
    return Map.of();
  }

  /** Returns the names of parameters that are not trained whatever the settings say. */
  default Set<String> frozen() {
    return Set.of();
  }

  /**
   * Tells whether training passes may be recorded on a GPU, once for each form of a batch, and
   * repeated with the numbers of others: all their work is on the device, the same for each batch
   * of that form, and nothing in Java changes from pass to pass. Random numbers are drawn anew each
   * time. What waits for the device is found out and run as usual. Not by default.
   */
  default boolean isRecordable() {
    return false;
  }

  /** Returns the number of trainable numbers. */
  default long parameterCount() {
    return parameters().stream().mapToLong(spec -> spec.shape().elements()).sum();
  }

  /** Returns the same model, trained for something else. */
  default Model trainedFor(Objective other) {
    return new TrainedFor(this, other);
  }

  /**
   * Returns a user's own module as a model of one segment. Its present values are what training
   * starts from; its parameters become views of Flotilla's arenas. Parameters that want no gradient
   * when a trainer is built are not trained; a tensor that is registered under several names is one
   * parameter, under the first of them.
   *
   * <p>Buffers called {@code running_mean} and {@code running_var} are statistics of batches, which
   * are averaged over ranks; all others stay what they are, in their own type.
   *
   * @param forward maps the module's input and the mode to its output
   */
  static Model of(
      Module module, BiFunction<Tensor, ForwardMode, Tensor> forward, Objective objective) {
    return new ModuleModel(module, forward, objective);
  }
}
