package dev.flotilla.zoo.table;

/** How a category becomes numbers. */
public enum CategoryCode {
  /** A number for each category, 1 for that of the row and 0 for the others. */
  ONE_HOT,
  /** The place of the category among those of the training rows, sorted by text, from 0. */
  INDEX
}
