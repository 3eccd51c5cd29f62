package dev.flotilla.collective;

import java.util.Objects;
import java.util.regex.Pattern;

/** Makes what native code says about a failure fit for people. */
final class NativeText {

  private static final Pattern SOURCE_LINE =
      Pattern.compile("\\[[^\\]\\s]*\\.(cc|cpp|h):\\d+\\] *");

  private NativeText() {}

  /** Returns the first line without the places in native sources that some messages name. */
  static String firstLine(Throwable failure) {
    var message = Objects.requireNonNullElse(failure.getMessage(), failure.getClass().getName());
    return SOURCE_LINE.matcher(message).replaceFirst("").lines().findFirst().orElse("").strip();
  }
}
