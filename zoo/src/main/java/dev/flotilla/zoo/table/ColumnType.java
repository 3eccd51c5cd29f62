package dev.flotilla.zoo.table;

/** What the cells of a column are. */
public enum ColumnType {
  /** Numbers. */
  NUMBER,
  /** One of a few texts. */
  CATEGORY,
  /** Nothing that a model sees. */
  IGNORED
}
