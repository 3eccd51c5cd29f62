package dev.flotilla.zoo.table;

import dev.flotilla.settings.ConfigException;
import dev.flotilla.zoo.data.DataProblem;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

/**
 * What was learned on training rows, by which rows of any table become what the model sees.
 *
 * @param plan what is read of a table
 * @param features what was learned of each column
 * @param classes names of the classes in the order of their numbers; none for a regression
 * @param code how categories become numbers
 */
record Preprocessing(
    TablePlan plan, List<Feature> features, List<String> classes, CategoryCode code) {

  /** How it is called in a run's folder. */
  static final String FILE = "preprocessing.json";

  private static final String KEY = "data.preprocessing";
  private static final int FORMAT = 1;
  private static final int MOST_ONE_HOT = 1024;

  /** Concludes what has been learned. */
  static Preprocessing learn(
      Path file,
      TablePlan plan,
      TableSource source,
      Statistics statistics,
      List<Dictionary> dictionaries) {
    List<Feature> features = new ArrayList<>();
    for (int at = 0; at < plan.features().size(); at++) {
      if (statistics.isEmpty(at)) {
        throw DataProblem.of(
            file,
            "column '%s' has no value in any training row".formatted(plan.nameAt(at)),
            "name it in data.columns.exclude");
      }
      features.add(
          plan.isCategory(at)
              ? statistics.category(at, dictionaries.get(at))
              : statistics.number(at, source.columns().scaling()));
    }
    var code = source.columns().categories();
    features.forEach(feature -> requireFew(file, feature, code));
    return new Preprocessing(
        plan, features, classes(file, plan, source, statistics, dictionaries), code);
  }

  private static void requireFew(Path file, Feature feature, CategoryCode code) {
    if (feature.width(code) > MOST_ONE_HOT) {
      throw DataProblem.of(
          file,
          "column '%s' has %,d categories, but at most %,d can be one_hot"
              .formatted(feature.name(), feature.categories().size(), MOST_ONE_HOT),
          "name it in data.columns.exclude, or set data.columns.categories: index");
    }
  }

  private static List<String> classes(
      Path file,
      TablePlan plan,
      TableSource source,
      Statistics statistics,
      List<Dictionary> dictionaries) {
    if (plan.task() == TableTask.REGRESSION) {
      return List.of();
    }
    if (!source.classes().isEmpty()) {
      return source.classes();
    }
    var seen = statistics.seen(plan.labelAt(), dictionaries.get(plan.labelAt()));
    if (seen.size() < 2) {
      throw DataProblem.of(
          file,
          "column '%s' has the class %s alone in training rows".formatted(plan.label(), seen),
          "choose another label column, or set data.task: regression");
    }
    boolean areWhole = seen.stream().allMatch(name -> name.matches("-?[0-9]{1,18}"));
    Comparator<String> order =
        areWhole ? Comparator.comparingLong(Long::parseLong) : Comparator.naturalOrder();
    return seen.stream().sorted(order).toList();
  }

  /** Returns the numbers that the model sees of a row. */
  int width() {
    return features.stream().mapToInt(feature -> feature.width(code)).sum();
  }

  /** Returns dictionaries of the categories and classes that have been learned. */
  List<Dictionary> dictionaries() {
    List<Dictionary> dictionaries = new ArrayList<>();
    features.forEach(feature -> dictionaries.add(Dictionary.of(feature.categories())));
    dictionaries.add(Dictionary.of(classes));
    return dictionaries;
  }

  /**
   * Makes what the model sees of a row whose categories have the numbers that were learned.
   *
   * @param to where to write {@link #width} numbers, from a place on
   */
  void encode(float[] row, float[] to, int from) {
    int at = from;
    for (int i = 0; i < features.size(); i++) {
      var feature = features.get(i);
      double value = Float.isNaN(row[i]) ? feature.fill() : row[i];
      if (feature.isNumber()) {
        to[at++] = (float) ((value - feature.center()) / feature.scale());
      } else if (code == CategoryCode.INDEX) {
        to[at++] = (float) value;
      } else {
        int width = feature.categories().size();
        Arrays.fill(to, at, at + width, 0);
        to[at + (int) value] = 1;
        at += width;
      }
    }
  }

  /** Returns all of it as JSON's values. */
  Map<String, Object> values() {
    var values =
        JsonMap.of(
            "format",
            FORMAT,
            "label",
            plan.label(),
            "task",
            word(plan.task()),
            "classes",
            classes,
            "missing",
            word(plan.missing()),
            "markers",
            plan.markers(),
            "categories",
            word(code),
            "columns",
            features.stream().map(Feature::values).toList());
    var text = plan.text();
    if (text != null) {
      values.put(
          "text",
          List.of(
              JsonMap.of(
                  "column",
                  text.column(),
                  "vocabulary",
                  text.vocabulary().toAbsolutePath().toString(),
                  "lowercase",
                  text.lowercase() ? 1 : 0,
                  "max_seq_len",
                  text.maxSeqLen())));
    }
    return values;
  }

  void writeTo(Path file) {
    try {
      Files.writeString(
          file, JsonMapper.shared().writerWithDefaultPrettyPrinter().writeValueAsString(values()));
    } catch (IOException failure) {
      throw new UncheckedIOException("cannot write " + file, failure);
    }
  }

  /**
   * Reads what a run has learned.
   *
   * @throws ConfigException if the file is missing or malformed
   */
  static Preprocessing read(Path file) {
    try {
      var values = JsonMapper.shared().readValue(Files.readString(file), Map.class);
      return of(new JsonMap(values));
    } catch (JacksonException | IllegalArgumentException | IOException e) {
      String why = e instanceof IOException ? "cannot be read" : "is no preprocessing of a run";
      throw DataProblem.in(
          KEY,
          "%s %s: %s"
              .formatted(file, why, String.valueOf(e.getMessage()).lines().findFirst().orElse("")),
          "name the preprocessing.json of a run's folder");
    }
  }

  private static Preprocessing of(JsonMap values) {
    if (values.number("format") != FORMAT) {
      throw new IllegalArgumentException("its format is another one than " + FORMAT);
    }
    var features = values.maps("columns").stream().map(Feature::of).toList();
    var text =
        values.has("text")
            ? values.maps("text").stream()
                .map(
                    it ->
                        new TextColumn(
                            it.text("column"),
                            Path.of(it.text("vocabulary")),
                            it.number("lowercase") > 0,
                            (int) it.number("max_seq_len")))
                .findFirst()
                .orElse(null)
            : null;
    var plan =
        new TablePlan(
            features.stream().map(Feature::name).toList(),
            features.stream().map(Feature::type).toList(),
            values.text("label"),
            constant(TableTask.class, values.text("task")),
            text,
            constant(Missing.class, values.text("missing")),
            values.texts("markers"));
    return new Preprocessing(
        plan,
        features,
        values.texts("classes"),
        constant(CategoryCode.class, values.text("categories")));
  }

  private static String word(Enum<?> constant) {
    return constant.name().toLowerCase(Locale.ROOT);
  }

  private static <E extends Enum<E>> E constant(Class<E> type, String word) {
    return Enum.valueOf(type, word.toUpperCase(Locale.ROOT));
  }
}
