package dev.flotilla.checkpoint;

import dev.flotilla.memory.TensorScope;
import dev.flotilla.memory.Tensors;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeSet;
import java.util.function.Predicate;
import org.bytedeco.pytorch.Tensor;

/** How published weights fit a model: what can be copied, and what is wrong. */
public final class WeightsFit {

  private final PublishedWeights weights;
  private final Map<String, long[]> shapes;
  private final Map<String, Tensor> model;

  /** Names in the file by names in the model. */
  private final Map<String, String> sources = new LinkedHashMap<>();

  private final Map<String, String> duplicates = new LinkedHashMap<>();
  private final TreeSet<String> missing = new TreeSet<>();
  private final List<String> unexpected = new ArrayList<>();
  private final List<String> mismatched = new ArrayList<>();

  private WeightsFit(
      PublishedWeights weights, Map<String, long[]> shapes, Map<String, Tensor> model) {
    this.weights = weights;
    this.shapes = shapes;
    this.model = model;
  }

  static WeightsFit of(
      PublishedWeights weights, Map<String, Tensor> model, Map<String, String> aliases) {
    var shapes = new LinkedHashMap<String, long[]>();
    model.forEach((name, tensor) -> shapes.put(name, tensor.shape()));
    return new WeightsFit(weights, shapes, model)
        .compare(new WeightNames(shapes.keySet(), aliases));
  }

  /** Compares with shapes alone, without native code; such a fit cannot be copied. */
  static WeightsFit ofShapes(
      PublishedWeights weights, Map<String, long[]> shapes, Map<String, String> aliases) {
    return new WeightsFit(weights, shapes, Map.of())
        .compare(new WeightNames(shapes.keySet(), aliases));
  }

  private WeightsFit compare(WeightNames names) {
    weights.tensors().forEach((published, info) -> place(published, info, names));
    // A tied parameter may be there under its other name alone.
    duplicates.forEach((published, name) -> sources.putIfAbsent(name, published));
    missing.addAll(shapes.keySet());
    missing.removeAll(sources.keySet());
    missing.removeIf(WeightNames::isOptional);
    mismatched.forEach(line -> missing.remove(line.substring(0, line.indexOf(':'))));
    return this;
  }

  private void place(String published, TensorInfo info, WeightNames names) {
    var meaning = names.meaningOf(published);
    if (meaning.isEmpty()) {
      if (!WeightNames.isNeedless(published)) {
        unexpected.add(published);
      }
      return;
    }
    String name = meaning.get().name();
    long[] shape = Objects.requireNonNull(shapes.get(name));
    if (!Arrays.equals(info.shape(), shape)) {
      mismatched.add(
          "%s: %s in the file, %s in the model"
              .formatted(name, Arrays.toString(info.shape()), Arrays.toString(shape)));
    } else if (meaning.get().isAlias()) {
      duplicates.put(published, name);
    } else if (sources.putIfAbsent(name, published) != null) {
      unexpected.add(published + " (a second " + name + ")");
    }
  }

  private Tensor tensor(String name) {
    return Objects.requireNonNull(model.get(name));
  }

  /** Returns names of the model that the file does not hold. */
  public List<String> missing() {
    return List.copyOf(missing);
  }

  /** Returns names of the file that the model does not know. */
  public List<String> unexpected() {
    return List.copyOf(unexpected);
  }

  /** Returns what differs in shape, with both shapes. */
  public List<String> mismatched() {
    return List.copyOf(mismatched);
  }

  /** Tells whether everything is there and nothing else. */
  public boolean isExact() {
    return missing.isEmpty() && unexpected.isEmpty() && mismatched.isEmpty();
  }

  /** Returns the number of tensors that will be copied. */
  public int copied() {
    return sources.size();
  }

  /** Returns what does not fit, a line for each kind; empty if everything does. */
  public String text() {
    var lines = new ArrayList<String>();
    add(lines, "missing", missing());
    add(lines, "unexpected", unexpected());
    add(lines, "mismatched", mismatched());
    return String.join("\n", lines);
  }

  private static void add(List<String> lines, String kind, List<String> names) {
    if (!names.isEmpty()) {
      lines.add("  %s (%d): %s".formatted(kind, names.size(), String.join(", ", names)));
    }
  }

  /**
   * Requires that everything fits.
   *
   * @throws CheckpointException with all that does not
   */
  public WeightsFit requireExact() {
    if (!isExact()) {
      throw new CheckpointException(
          "%s does not fit the model:\n%s".formatted(weights.source(), text()));
    }
    return this;
  }

  /**
   * Copies what fits; other dtypes are converted.
   *
   * @throws CheckpointException if nothing fits, or copies of a tied parameter differ
   */
  public void copy() {
    copy(_ -> true);
  }

  /**
   * Copies what fits of some tensors of the model; other dtypes are converted.
   *
   * @throws CheckpointException if nothing fits, or copies of a tied parameter differ
   */
  public void copy(Predicate<String> isWanted) {
    requireAny();
    sources.forEach(
        (name, published) -> {
          if (isWanted.test(name)) {
            copy(published, tensor(name));
          }
        });
    duplicates.forEach(
        (published, name) -> {
          if (isWanted.test(name)) {
            requireSame(published, name);
          }
        });
  }

  /**
   * Requires that something fits.
   *
   * @throws CheckpointException with all that does not
   */
  public WeightsFit requireAny() {
    if (sources.isEmpty()) {
      throw new CheckpointException(
          "%s has nothing in common with the model:\n%s".formatted(weights.source(), text()));
    }
    return this;
  }

  private void copy(String published, Tensor target) {
    try (var _ = TensorScope.open()) {
      target.detach().copy_(read(published));
    }
  }

  private Tensor read(String published) {
    var file = weights.fileOf(published);
    var info = file.info(published);
    var stored = Tensors.empty(info.type().scalarType(), info.shape());
    file.copyInto(published, stored);
    return stored;
  }

  private void requireSame(String published, String name) {
    if (published.equals(sources.get(name))) {
      return;
    }
    try (var _ = TensorScope.open()) {
      var target = tensor(name).detach();
      if (!read(published).to(target.scalar_type()).equal(target)) {
        Path source = weights.source();
        throw new CheckpointException(
            "%s: %s differs from %s, but the model ties them".formatted(source, published, name));
      }
    }
  }
}
