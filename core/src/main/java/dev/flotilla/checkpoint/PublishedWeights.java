package dev.flotilla.checkpoint;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.SequencedSet;

/**
 * Weights as people exchange them: a safetensors file, several of them with an index, a folder with
 * either, or a {@code .pth} state dict, which a child JVM converts first.
 *
 * <p>Belongs to the thread that opened it.
 */
public final class PublishedWeights implements AutoCloseable {

  /** Longest time that a conversion may take. */
  public static final Duration LONGEST_CONVERSION = Duration.ofMinutes(PthConversion.MOST_MINUTES);

  private static final String WHOLE = "model.safetensors";
  private static final String INDEX = WHOLE + ".index.json";

  private final Path source;
  private final List<AutoCloseable> open = new ArrayList<>();
  private final SequencedMap<String, SafetensorsFile> byName = new LinkedHashMap<>();

  private PublishedWeights(Path source) {
    this.source = source;
  }

  /**
   * Opens a file or folder.
   *
   * @throws CheckpointException if it is missing, malformed, or mentions what is not allowed
   */
  public static PublishedWeights open(Path fileOrFolder) {
    var weights = new PublishedWeights(fileOrFolder);
    try {
      weights.read(fileOrFolder);
      return weights;
    } catch (RuntimeException e) {
      weights.close();
      throw e;
    }
  }

  private void read(Path path) {
    if (Files.isDirectory(path)) {
      read(path.resolve(Files.exists(path.resolve(INDEX)) ? INDEX : WHOLE));
    } else if (path.toString().endsWith(".index.json")) {
      ShardIndex.read(path).files().forEach(this::addShard);
    } else if (isConverted(path)) {
      var conversion = PthConversion.of(path);
      open.add(conversion);
      add(conversion.result());
    } else {
      add(path);
    }
  }

  private SafetensorsFile add(Path file) {
    var opened = SafetensorsFile.open(file);
    open.add(opened);
    for (var tensor : opened.tensors()) {
      if (byName.put(tensor.name(), opened) != null) {
        throw new CheckpointException(
            "%s: holds %s a second time".formatted(file, TensorName.quote(tensor.name())));
      }
    }
    return opened;
  }

  /** Opens a shard, which must hold exactly what the index says. */
  private void addShard(Path file, SequencedSet<String> names) {
    var opened = add(file);
    for (String name : names) {
      if (!opened.contains(name)) {
        throw new CheckpointException(
            "%s: the index says that it holds %s, but it does not"
                .formatted(file, TensorName.quote(name)));
      }
    }
    if (opened.tensors().size() != names.size()) {
      throw new CheckpointException(
          "%s: holds %d tensors, but the index names %d of it"
              .formatted(file, opened.tensors().size(), names.size()));
    }
  }

  /** Returns where the weights come from. */
  public Path source() {
    return source;
  }

  /** Returns the tensors by their names in the file. */
  SequencedMap<String, TensorInfo> tensors() {
    var tensors = new LinkedHashMap<String, TensorInfo>();
    byName.forEach((name, file) -> tensors.put(name, file.info(name)));
    return tensors;
  }

  SafetensorsFile fileOf(String name) {
    var file = byName.get(name);
    if (file == null) {
      throw new IllegalArgumentException("no tensor " + name);
    }
    return file;
  }

  /**
   * Finds out how these weights fit a model, without copying anything.
   *
   * @param model the model's tensors by name
   * @param aliases other names of tied parameters, each with the parameter's own
   */
  public WeightsFit fit(
      Map<String, org.bytedeco.pytorch.Tensor> model, Map<String, String> aliases) {
    return WeightsFit.of(this, model, aliases);
  }

  /**
   * Finds out how these weights fit a model of which only the shapes are known, without native
   * code.
   */
  public WeightsFit fitShapes(Map<String, long[]> model, Map<String, String> aliases) {
    return WeightsFit.ofShapes(this, model, aliases);
  }

  /** Tells whether a file must be converted, by a process of its own, before it can be read. */
  public static boolean isConverted(Path file) {
    return String.valueOf(file.getFileName()).matches(".*\\.(pth|pt|bin)");
  }

  @Override
  public void close() {
    for (var resource : open.reversed()) {
      try {
        resource.close();
      } catch (Exception e) {
        throw new IllegalStateException("cannot close " + source, e);
      }
    }
    open.clear();
  }
}
