package dev.flotilla.zoo.table;

import dev.flotilla.settings.ConfigException;
import dev.flotilla.text.NearestName;
import dev.flotilla.zoo.data.DataProblem;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Reads the rows of a table by a plan, each as an array of floats: numbers, NaN where a value is
 * missing, and numbers of categories.
 */
final class RowParser implements Cells, AutoCloseable {

  private static final int IGNORED = -1;
  private static final int TEXT = -2;

  private final Path file;
  private final TableReader reader;
  private final TablePlan plan;
  private final int[] roles;
  private final boolean[] isCategory;
  private final Dictionary[] dictionaries;
  private final boolean isOpen;
  private final Set<String> markers;
  private final boolean hasNumericMarker;
  private final float[] row;
  private final long[] filled;
  private String text = "";
  private boolean isDropped;
  private long dropped;
  private String firstDropped = "";

  /**
   * Prepares to read.
   *
   * @param dictionaries for each place of a row, used where it is a category's
   * @param isOpen whether categories that are not in them may be added
   * @param needsLabel whether there must be a label column
   */
  RowParser(
      Path file,
      TableReader reader,
      TablePlan plan,
      List<Dictionary> dictionaries,
      boolean isOpen,
      boolean needsLabel) {
    this.file = file;
    this.reader = reader;
    this.plan = plan;
    this.dictionaries = dictionaries.toArray(Dictionary[]::new);
    this.isOpen = isOpen;
    this.isCategory = new boolean[plan.width()];
    for (int at = 0; at < isCategory.length; at++) {
      isCategory[at] = plan.isCategory(at);
    }
    this.markers = new HashSet<>(plan.markers());
    this.hasNumericMarker =
        markers.stream()
            .anyMatch(it -> !Float.isNaN(DecimalText.parse(it.toCharArray(), 0, it.length())));
    this.row = new float[plan.width()];
    this.filled = new long[plan.width()];
    this.roles = roles(needsLabel);
  }

  private int[] roles(boolean needsLabel) {
    var names = reader.columns();
    var roles = new int[names.size()];
    Arrays.fill(roles, IGNORED);
    for (int at = 0; at < plan.features().size(); at++) {
      roles[indexOf(plan.features().get(at), names)] = at;
    }
    var texts = plan.text();
    if (texts != null) {
      roles[indexOf(texts.column(), names)] = TEXT;
    }
    if (needsLabel || names.contains(plan.label())) {
      roles[indexOf(plan.label(), names)] = plan.labelAt();
    }
    return roles;
  }

  private int indexOf(String name, List<String> names) {
    int index = names.indexOf(name);
    if (index < 0) {
      throw noColumn("data.path", file, name, names);
    }
    return index;
  }

  static ConfigException noColumn(String key, Path file, String name, List<String> names) {
    String hint =
        names.stream()
            .filter(name::equalsIgnoreCase)
            .findFirst()
            .map("; did you mean '%s'?"::formatted)
            .orElseGet(() -> NearestName.hint(name, names));
    String some = names.size() <= 12 ? names.toString() : names.subList(0, 12) + " …";
    return DataProblem.in(
        key, "%s has no column '%s'%s".formatted(file, name, hint), "columns: " + some);
  }

  /** Reads the next row that is not left out; returns whether there was one. */
  boolean next() {
    do {
      isDropped = false;
      row[plan.labelAt()] = 0;
      if (!reader.next(this)) {
        return false;
      }
      if (isDropped && dropped++ == 0) {
        firstDropped = reader.place();
      }
    } while (isDropped);
    return true;
  }

  /** Returns the row that was read last; the same array each time. */
  float[] row() {
    return row;
  }

  /** Returns the text of the row that was read last. */
  String text() {
    return text;
  }

  long dropped() {
    return dropped;
  }

  /** Returns where the first row is that was left out. */
  String firstDropped() {
    return firstDropped;
  }

  /** Tells whether the table has a column of labels. */
  boolean hasLabel() {
    return Arrays.stream(roles).anyMatch(role -> role == plan.labelAt());
  }

  /** Returns how many cells had no value, by place. */
  long[] filled() {
    return filled.clone();
  }

  List<Dictionary> dictionaries() {
    return List.of(dictionaries);
  }

  @Override
  public void text(int column, char[] chars, int from, int length) {
    int at = column < roles.length ? roles[column] : IGNORED;
    if (at == IGNORED) {
      return;
    }
    if (at == TEXT) {
      text = new String(chars, from, length);
    } else if (isCategory[at]) {
      category(at, column, new String(chars, from, length).strip());
    } else {
      float value = DecimalText.parse(chars, from, length);
      if (Float.isNaN(value) || hasNumericMarker) {
        value = unusual(at, column, new String(chars, from, length).strip(), value);
      }
      row[at] = value;
    }
  }

  private float unusual(int at, int column, String cell, float value) {
    if (markers.contains(cell)) {
      missing(column);
      return Float.NaN;
    }
    if (Float.isNaN(value)) {
      throw at(
          column,
          "expected a number, but found '%s'".formatted(shown(cell)),
          at == plan.labelAt()
              ? "with names of classes, set data.task: classification"
              : mixed(plan.nameAt(at)));
    }
    return value;
  }

  /** Says what may be done about a text among numbers. */
  static String mixed(String column) {
    return "mend the cell, add it to data.columns.markers, or set data.columns.types: {'%s': category}"
        .formatted(column);
  }

  private void category(int at, int column, String cell) {
    if (markers.contains(cell)) {
      missing(column);
      return;
    }
    int number = dictionaries[at].find(cell);
    if (number < 0) {
      number = addOrRefuse(at, column, cell);
    }
    row[at] = number;
  }

  private int addOrRefuse(int at, int column, String cell) {
    if (!isOpen) {
      throw unseen(at, file, reader.place(), cell, dictionaries[at].names(), plan);
    }
    if (dictionaries[at].names().size() == Dictionary.MOST) {
      throw at(
          column,
          "has more than %,d different texts, too many for %s"
              .formatted(Dictionary.MOST, at == plan.labelAt() ? "classes" : "categories"),
          "name it in data.columns.exclude");
    }
    return dictionaries[at].add(cell, reader.place());
  }

  static ConfigException unseen(
      int at, Path file, String place, String cell, List<String> known, TablePlan plan) {
    boolean isLabel = at == plan.labelAt();
    String some = known.size() <= 12 ? known.toString() : known.subList(0, 12) + " …";
    return DataProblem.at(
        file,
        "%s, column '%s'".formatted(place, plan.nameAt(at)),
        isLabel
            ? "label '%s' is none of the classes %s".formatted(shown(cell), some)
            : "category '%s' does not occur in the training rows, but %s"
                .formatted(shown(cell), some),
        isLabel
            ? "mend the label, or train with rows of that class"
            : "train with rows of that category, or name the column in data.columns.exclude");
  }

  @Override
  public void number(int column, double value) {
    int at = roles[column];
    if (at == IGNORED) {
      return;
    }
    if (at == TEXT) {
      throw at(column, "expected a text, but found the number " + value, "");
    }
    if (isCategory[at]) {
      boolean isWhole = value == Math.rint(value) && Math.abs(value) < 1L << 53;
      category(at, column, isWhole ? Long.toString((long) value) : Double.toString(value));
    } else if (Float.isFinite((float) value)) {
      row[at] = (float) value;
    } else if (Double.isNaN(value)) {
      missing(column);
    } else {
      throw at(column, "expected a finite number, but found " + value, "mend the cell");
    }
  }

  @Override
  public void missing(int column) {
    int at = roles[column];
    if (at == IGNORED) {
      return;
    }
    if (plan.missing() == Missing.DROP_ROW) {
      isDropped = true;
    } else if (at >= 0 && at != plan.labelAt() && plan.missing() == Missing.MEAN) {
      row[at] = Float.NaN;
      filled[at]++;
    } else {
      boolean isLabel = at == plan.labelAt();
      throw at(
          column,
          isLabel ? "the label is missing" : "the value is missing",
          isLabel || at == TEXT
              ? "mend the cell, or set data.columns.missing: drop_row"
              : "mend the cell, or set data.columns.missing to mean or drop_row");
    }
  }

  private ConfigException at(int column, String what, String fix) {
    String place = "%s, column '%s'".formatted(reader.place(), reader.columns().get(column));
    return DataProblem.at(file, place, what, fix);
  }

  static String shown(String cell) {
    return cell.length() <= 40 ? cell : cell.substring(0, 40) + "…";
  }

  @Override
  public void close() {
    reader.close();
  }
}
