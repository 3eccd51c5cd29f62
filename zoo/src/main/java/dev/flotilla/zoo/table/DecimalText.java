package dev.flotilla.zoo.table;

/**
 * Reads decimal numbers from characters as {@link Float#parseFloat} would, without a text for each.
 *
 * <p>A number of at most 15 digits and a power of ten up to 22 is one division or product of two
 * exact doubles, correctly rounded (Clinger, 1990). Rounding that again to a float goes astray only
 * where the double lies exactly between two floats; those and all others are left to the library.
 */
final class DecimalText {

  private static final int EXACT_DIGITS = 15;
  private static final int EXACT_POWER = 22;
  private static final long BELOW_FLOAT = (1L << 29) - 1;
  private static final long BETWEEN_FLOATS = 1L << 28;
  private static final double[] POWERS = powers();

  private DecimalText() {}

  private static double[] powers() {
    var powers = new double[EXACT_POWER + 1];
    for (int i = 0; i <= EXACT_POWER; i++) {
      powers[i] = Double.parseDouble("1e" + i);
    }
    return powers;
  }

  /** Returns the number, or NaN where the characters are none or it is too large for a float. */
  static float parse(char[] chars, int from, int length) {
    int at = from;
    int end = from + length;
    while (at < end && chars[at] <= ' ') {
      at++;
    }
    while (end > at && chars[end - 1] <= ' ') {
      end--;
    }
    int start = at;
    boolean isNegative = at < end && chars[at] == '-';
    if (at < end && (isNegative || chars[at] == '+')) {
      at++;
    }
    long digits = 0;
    int seen = 0;
    int counted = 0;
    int point = -1;
    for (; at < end; at++) {
      int digit = chars[at] - '0';
      if (digit >= 0 && digit <= 9) {
        seen++;
        if (counted > 0 || digit > 0) {
          counted++;
          digits = digits * 10 + digit;
        }
        if (counted > EXACT_DIGITS) {
          return slow(chars, start, end);
        }
      } else if (chars[at] == '.' && point < 0) {
        point = seen;
      } else {
        return slow(chars, start, end);
      }
    }
    if (seen == 0) {
      return Float.NaN;
    }
    int power = point < 0 ? 0 : seen - point;
    if (power > EXACT_POWER) {
      return slow(chars, start, end);
    }
    double value = digits / POWERS[power];
    if ((Double.doubleToRawLongBits(value) & BELOW_FLOAT) == BETWEEN_FLOATS) {
      return slow(chars, start, end);
    }
    return (float) (isNegative ? -value : value);
  }

  /** Reads exponents and long numbers; the library alone would take "1f", "0x1p3" and "NaN" too. */
  private static float slow(char[] chars, int from, int end) {
    boolean hasDigit = false;
    for (int at = from; at < end; at++) {
      char c = chars[at];
      boolean isDigit = c >= '0' && c <= '9';
      hasDigit |= isDigit;
      if (!isDigit && c != '.' && c != '-' && c != '+' && c != 'e' && c != 'E') {
        return Float.NaN;
      }
    }
    if (!hasDigit) {
      return Float.NaN;
    }
    try {
      float value = Float.parseFloat(new String(chars, from, end - from));
      return Float.isInfinite(value) ? Float.NaN : value;
    } catch (NumberFormatException _) {
      return Float.NaN;
    }
  }
}
