package dev.flotilla.app.doctor;

/**
 * What one check has found.
 *
 * @param check what was looked at, in a word
 * @param level how bad it is
 * @param seen what was seen
 * @param meaning what it means for training; empty where all is well
 * @param fix what mends it; empty where there is nothing to mend
 */
public record Finding(String check, Level level, String seen, String meaning, String fix) {

  /** Returns a finding that all is well. */
  public static Finding ok(String check, String seen) {
    return new Finding(check, Level.OK, seen, "", "");
  }

  /** Returns a finding that training works, but not as well as it could. */
  public static Finding warning(String check, String seen, String meaning, String fix) {
    return new Finding(check, Level.WARNING, seen, meaning, fix);
  }

  /** Returns a finding that a run would fail. */
  public static Finding error(String check, String seen, String meaning, String fix) {
    return new Finding(check, Level.ERROR, seen, meaning, fix);
  }

  /** Returns a finding that a check could not be made. */
  public static Finding unknown(String check, String why) {
    return warning(
        check, "could not be checked: " + why, "nothing is known about it", "look at it by hand");
  }
}
