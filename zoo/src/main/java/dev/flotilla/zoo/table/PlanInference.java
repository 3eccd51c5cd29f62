package dev.flotilla.zoo.table;

import dev.flotilla.settings.ConfigException;
import dev.flotilla.zoo.data.DataProblem;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Decides what is read of a table by its source, its header and its first rows. */
final class PlanInference implements Cells {

  private static final int ROWS = 1000;

  private final Path file;
  private final List<String> names;
  private final Set<String> markers;
  private final TableReader reader;
  private final String[] numberAt;
  private final String[] textAt;
  private final String[] texts;

  private PlanInference(Path file, TableReader reader, List<String> markers) {
    this.file = file;
    this.reader = reader;
    this.names = reader.columns();
    this.markers = new HashSet<>(markers);
    this.numberAt = new String[names.size()];
    this.textAt = new String[names.size()];
    this.texts = new String[names.size()];
    Arrays.fill(numberAt, "");
    Arrays.fill(textAt, "");
  }

  /** Looks at the first rows of a file. */
  static TablePlan plan(Path file, TableReader reader, TableSource source) {
    var columns = source.columns();
    var inference = new PlanInference(file, reader, columns.markers());
    for (int i = 0; i < ROWS && reader.next(inference); i++) {
      // Each cell is looked at as it comes.
    }
    return inference.plan(source, columns);
  }

  private TablePlan plan(TableSource source, Columns columns) {
    var label = source.label();
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
    var text = source.text();
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
        source.task(),
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
    var given = columns.types().get(name);
    if (given != null) {
      return given;
    }
    int column = names.indexOf(name);
    boolean isText = !textAt[column].isEmpty();
    if (isText && !numberAt[column].isEmpty()) {
      throw DataProblem.at(
          file,
          "%s, column '%s'".formatted(textAt[column], name),
          "expected a number, as in %s, but found '%s'"
              .formatted(numberAt[column], RowParser.shown(texts[column])),
          RowParser.mixed(name));
    }
    return isText ? ColumnType.CATEGORY : ColumnType.NUMBER;
  }

  @Override
  public void text(int column, char[] chars, int from, int length) {
    if (column >= names.size()) {
      return;
    }
    if (!Float.isNaN(DecimalText.parse(chars, from, length))) {
      number(column, 0);
    } else if (textAt[column].isEmpty()) {
      String cell = new String(chars, from, length).strip();
      if (!markers.contains(cell)) {
        textAt[column] = reader.place();
        texts[column] = cell;
      }
    }
  }

  @Override
  public void number(int column, double value) {
    if (numberAt[column].isEmpty()) {
      numberAt[column] = reader.place();
    }
  }

  @Override
  public void missing(int column) {}
}
