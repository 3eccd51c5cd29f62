package dev.flotilla.app.doctor;

import java.util.Locale;

/** How bad a finding is. */
public enum Level {
  /** As it should be. */
  OK,
  /** Training works, but slower, or with less than could be had. */
  WARNING,
  /** A run would fail. */
  ERROR;

  /** Returns the word for people and for JSON. */
  public String word() {
    return name().toLowerCase(Locale.ROOT);
  }
}
