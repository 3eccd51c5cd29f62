package dev.flotilla.checkpoint;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Optional;

/** What a tensor may be called in a file, and the order of names. */
final class TensorName {

  /** The order of the names' UTF-8 bytes, which is that of their code points. */
  static final Comparator<String> ORDER =
      (a, b) ->
          Arrays.compareUnsigned(
              a.getBytes(StandardCharsets.UTF_8), b.getBytes(StandardCharsets.UTF_8));

  static final String METADATA = "__metadata__";
  static final int MAX_LENGTH = 1 << 20;

  private TensorName() {}

  /** Says what is wrong with a name, or nothing. */
  static Optional<String> problem(String name) {
    if (name.isEmpty()) {
      return Optional.of("the name of a tensor is empty");
    }
    if (name.length() > MAX_LENGTH) {
      return Optional.of("the name of a tensor is longer than 1 MiB: " + quote(name));
    }
    if (name.indexOf('\0') >= 0) {
      return Optional.of("the name of a tensor holds a NUL character: " + quote(name));
    }
    return isText(name)
        ? Optional.empty()
        : Optional.of("the name of a tensor is not valid Unicode: " + quote(name));
  }

  private static boolean isText(String name) {
    return StandardCharsets.UTF_8.newEncoder().canEncode(name);
  }

  /** Returns a name for a message: in quotes, without control characters, not too long. */
  static String quote(String name) {
    var shown = name.length() > 80 ? name.substring(0, 80) + "…" : name;
    return "'" + shown.replaceAll("\\p{Cntrl}|\\p{Cs}", "?") + "'";
  }
}
