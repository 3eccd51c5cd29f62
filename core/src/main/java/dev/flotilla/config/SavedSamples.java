package dev.flotilla.config;

import dev.flotilla.data.DataSource;
import dev.flotilla.data.SampleForm;
import dev.flotilla.settings.ConfigException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What a run knew of its data that whoever uses its model needs, where the data is not at hand.
 *
 * @param classNames names of classes in the order of their numbers; empty where there are none
 * @param shape extents of one sample; empty where samples have none in common
 */
public record SavedSamples(List<String> classNames, List<Long> shape) {

  private static final String CLASS_NAMES = "class_names";
  private static final String SHAPE = "sample_shape";
  private static final SavedSamples UNKNOWN = new SavedSamples(List.of(), List.of());

  /** Copies the lists. */
  public SavedSamples {
    classNames = List.copyOf(classNames);
    shape = List.copyOf(shape);
  }

  /** Looks at data that has been checked. */
  static SavedSamples of(DataSource data) {
    Optional<List<Long>> shape = data.form().map(SavedSamples::shapeOf);
    return new SavedSamples(data.classNames(), shape.orElse(List.of()));
  }

  private static List<Long> shapeOf(SampleForm form) {
    return switch (form) {
      case SampleForm.Images(int channels, int height, int width, int _) ->
          List.of((long) channels, (long) height, (long) width);
      case SampleForm.Numbers(int columns, int _) -> List.of((long) columns);
      case SampleForm.Tokens _ -> List.of();
    };
  }

  /** Reads what a run has left in its summary, or looks at the data of one that has not ended. */
  public static SavedSamples in(Path run, RunConfig config) {
    if (Files.exists(SavedRun.summaryFile(run))) {
      var summary = SavedRun.summary(run);
      return new SavedSamples(
          list(summary, CLASS_NAMES).stream().map(String::valueOf).toList(),
          list(summary, SHAPE).stream().map(it -> ((Number) it).longValue()).toList());
    }
    try {
      config.checkData();
      return of(config.data());
    } catch (ConfigException gone) {
      return UNKNOWN;
    }
  }

  private static List<?> list(Map<String, Object> summary, String key) {
    return summary.get(key) instanceof List<?> values ? values : List.of();
  }

  /** Returns what the summary of a run says of it. */
  Map<String, Object> forSummary() {
    Map<String, Object> facts = new LinkedHashMap<>();
    if (!classNames.isEmpty()) {
      facts.put(CLASS_NAMES, classNames);
    }
    if (!shape.isEmpty()) {
      facts.put(SHAPE, shape);
    }
    return facts;
  }
}
