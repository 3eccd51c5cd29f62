package dev.flotilla.settings;

/**
 * A setting that is written as one word or number.
 *
 * <p>An implementing type has a method {@code public static T parse(String text)} that throws a
 * {@link ConfigException} with an empty key for text that it does not know, and {@code
 * parse(value.text())} equals {@code value}.
 */
public interface TextValue {

  /** Returns the one canonical way to write this value. */
  String text();
}
