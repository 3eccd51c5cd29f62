package dev.flotilla.zoo.table;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What is read of a table: which columns, as what.
 *
 * @param features names of the columns that a model sees, in their order
 * @param types their types
 * @param label name of the label column
 * @param task what it holds
 * @param text the column of texts, in place of features; null for none
 * @param missing what happens where a cell has no value
 * @param markers texts that stand for no value
 */
record TablePlan(
    List<String> features,
    List<ColumnType> types,
    String label,
    TableTask task,
    @Nullable TextColumn text,
    Missing missing,
    List<String> markers) {

  /** Returns the number of columns that are kept of a row, of which the last is the label. */
  int width() {
    return features.size() + 1;
  }

  /** Returns the place of the label in a row. */
  int labelAt() {
    return features.size();
  }

  /** Tells whether a place of a row holds the number of a category or class. */
  boolean isCategory(int at) {
    return at == labelAt()
        ? task == TableTask.CLASSIFICATION
        : types.get(at) == ColumnType.CATEGORY;
  }

  String nameAt(int at) {
    return at == labelAt() ? label : features.get(at);
  }
}
