package dev.flotilla.spark;

import java.util.OptionalInt;
import java.util.regex.Pattern;

/** A rank that has ended with another exit code than 0. Its message travels to the driver. */
final class RankFailure extends RuntimeException {

  private static final long serialVersionUID = 1;

  private static final Pattern CODE = Pattern.compile("rank \\d+ ended with exit code (\\d+)");

  RankFailure(int rank, int code, String lastLines) {
    super("rank %d ended with exit code %d; it last said:%n%s".formatted(rank, code, lastLines));
  }

  /** Reads the exit code from what Spark says of a failed job. */
  static OptionalInt exitCode(String message) {
    var matcher = CODE.matcher(message);
    return matcher.find()
        ? OptionalInt.of(Integer.parseInt(matcher.group(1)))
        : OptionalInt.empty();
  }
}
