package dev.flotilla.config;

/**
 * A value given on the command line on top of a recipe.
 *
 * @param where how a problem names it, for example {@code --max-steps}
 * @param assignment dotted key, equals sign, value in YAML notation
 */
public record Change(String where, String assignment) {

  /** Returns the change of {@code --set key=value}; a malformed one is reported when it is read. */
  public static Change set(String assignment) {
    return new Change("--set " + Text.shown(assignment), assignment);
  }

  /** Returns the change of an option of its own, such as {@code --max-steps 10}. */
  public static Change option(String option, String key, String value) {
    return new Change(option, key + "=" + value);
  }
}
