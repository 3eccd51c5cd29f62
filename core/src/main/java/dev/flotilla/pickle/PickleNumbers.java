package dev.flotilla.pickle;

import java.math.BigInteger;

/** Numbers and texts that a pickle writes in unusual ways. */
final class PickleNumbers {

  private PickleNumbers() {}

  /** Reads a number in decimal digits; 00 and 01 are the truth values of old protocols. */
  static Pickled line(PickleBytes in) throws PickleException {
    int at = in.position();
    String line = in.line();
    return switch (line) {
      case "00" -> new Pickled.Truth(false);
      case "01" -> new Pickled.Truth(true);
      default -> whole(at, line);
    };
  }

  static Pickled longLine(PickleBytes in) throws PickleException {
    int at = in.position();
    String line = in.line();
    return whole(at, line.endsWith("L") ? line.substring(0, line.length() - 1) : line);
  }

  private static Pickled whole(int at, String digits) throws PickleException {
    try {
      return new Pickled.Whole(Long.parseLong(digits));
    } catch (NumberFormatException e) {
      throw new PickleException(at, "expected a 64-bit number, but found '%s'".formatted(digits));
    }
  }

  static Pickled realLine(PickleBytes in) throws PickleException {
    int at = in.position();
    String line = in.line();
    try {
      return new Pickled.Real(Double.parseDouble(line));
    } catch (NumberFormatException e) {
      throw new PickleException(at, "expected a number, but found '%s'".formatted(line));
    }
  }

  /** Reads a two's complement number of so many bytes, the lowest first. */
  static Pickled littleEndian(PickleBytes in, int count) throws PickleException {
    int at = in.position();
    byte[] lowestFirst = in.bytes(count);
    var highestFirst = new byte[count + 1];
    for (int i = 0; i < count; i++) {
      highestFirst[count - i] = lowestFirst[i];
    }
    highestFirst[0] = (byte) (count > 0 && lowestFirst[count - 1] < 0 ? -1 : 0);
    var value = new BigInteger(highestFirst);
    if (value.bitLength() > 63) {
      throw new PickleException(at, "holds a number of more than 64 bits");
    }
    return new Pickled.Whole(value.longValue());
  }

  /** Reads a quoted text of protocol 0 without escapes. */
  static String quoted(PickleBytes in) throws PickleException {
    int at = in.position();
    String line = in.line();
    boolean isQuoted =
        line.length() >= 2
            && (line.charAt(0) == '\'' || line.charAt(0) == '"')
            && line.charAt(line.length() - 1) == line.charAt(0);
    if (!isQuoted || line.indexOf('\\') >= 0) {
      throw new PickleException(at, "expected a quoted text without escapes");
    }
    return line.substring(1, line.length() - 1);
  }
}
