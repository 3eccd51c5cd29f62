package dev.flotilla.config;

import java.util.Comparator;

/**
 * Where a value was written.
 *
 * @param layer 0 for the recipe, then one for each option in the order of the command line
 * @param line line in the recipe counted from 1; 0 for the whole recipe or an option
 * @param text how people read it, for example {@code recipe.yaml:12} or {@code --set seed=1}
 */
record Place(int layer, int line, String text) implements Comparable<Place> {

  private static final Comparator<Place> READING_ORDER =
      Comparator.comparingInt(Place::layer).thenComparingInt(Place::line);

  static Place ofFile(String name) {
    return new Place(0, 0, name);
  }

  static Place ofOption(int layer, String option) {
    return new Place(layer, 0, option);
  }

  /** Returns the place of a line in this file; an option has no lines and stays as it is. */
  Place line(int number) {
    return layer > 0 ? this : new Place(layer, number, text + ":" + number);
  }

  @Override
  public int compareTo(Place other) {
    return READING_ORDER.compare(this, other);
  }
}
