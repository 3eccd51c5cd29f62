package dev.flotilla.zoo.table;

import dev.flotilla.settings.ConfigException;
import dev.flotilla.zoo.data.DataProblem;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Decides what is read of a table by its settings, its header and its first rows. */
final class PlanInference implements Cells {

  private static final int ROWS = 1000;

  private final Path file;
  private final List<String> names;
  private final Set<String> markers;
  private final boolean[] isText;

  private PlanInference(Path file, List<String> names, List<String> markers) {
    this.file = file;
    this.names = names;
    this.markers = new HashSet<>(markers);
    this.isText = new boolean[names.size()];
  }

  /** Looks at the first rows of a file. */
  static TablePlan plan(Path file, TableReader reader, TableSettings settings) {
    var columns = settings.columns();
    var inference = new PlanInference(file, reader.columns(), columns.markers());
    for (int i = 0; i < ROWS && reader.next(inference); i++) {
      // Each cell is looked at as it comes.
    }
    return inference.plan(settings, columns);
  }

  private TablePlan plan(TableSettings settings, Columns columns) {
    var label = settings.label();
    if (label == null) {
      throw DataProblem.in(
          "data.label",
          "is missing: name the column to learn",
          "columns of %s: %s".formatted(file, names));
    }
    require("data.label", label);
    columns.include().forEach(name -> require("data.columns.include", name));
    columns.exclude().forEach(name -> require("data.columns.exclude", name));
    columns.types().keySet().forEach(name -> require("data.columns.types", name));
    var text = settings.text();
    List<String> features = new ArrayList<>();
    if (text == null) {
      features.addAll(features(label, columns));
    } else {
      require("data.text.column", text.column());
    }
    return new TablePlan(
        List.copyOf(features),
        features.stream().map(name -> type(name, columns)).toList(),
        label,
        settings.task(),
        text,
        columns.missing(),
        columns.markers());
  }

  private List<String> features(String label, Columns columns) {
    if (columns.include().contains(label)) {
      throw DataProblem.in(
          "data.columns.include", "must not hold the label '%s'".formatted(label), "");
    }
    var features =
        names.stream()
            .filter(name -> !name.equals(label))
            .filter(name -> columns.include().isEmpty() || columns.include().contains(name))
            .filter(name -> !columns.exclude().contains(name))
            .filter(name -> columns.types().get(name) != ColumnType.IGNORED)
            .toList();
    if (features.isEmpty()) {
      throw DataProblem.in("data.columns", "leave nothing for the model to see", "");
    }
    return features;
  }

  private void require(String key, String name) throws ConfigException {
    if (!names.contains(name)) {
      throw RowParser.noColumn(key, file, name, names);
    }
  }

  private ColumnType type(String name, Columns columns) {
    var inferred = isText[names.indexOf(name)] ? ColumnType.CATEGORY : ColumnType.NUMBER;
    return columns.types().getOrDefault(name, inferred);
  }

  @Override
  public void text(int column, char[] chars, int from, int length) {
    if (column < isText.length
        && !isText[column]
        && Float.isNaN(DecimalText.parse(chars, from, length))) {
      isText[column] = !markers.contains(new String(chars, from, length).strip());
    }
  }

  @Override
  public void number(int column, double value) {}

  @Override
  public void missing(int column) {}

  @Override
  public String toString() {
    return file + ": " + Arrays.toString(isText);
  }
}
