package dev.flotilla.settings;

import java.math.BigDecimal;
import java.util.regex.Pattern;

/**
 * A number of bytes, written as a number or with a unit: {@code 500MB}, {@code 1.5GiB}.
 *
 * @param bytes at least 1
 */
@TextForm(
    words = {},
    orNumber = true,
    pattern = ByteSize.FORM)
public record ByteSize(long bytes) implements TextValue {

  static final String FORM = "[0-9]{1,15}(\\.[0-9]{1,6})? ?(B|[kKMGT]B|[KMGT]iB)?";
  private static final Pattern PATTERN = Pattern.compile(FORM);
  private static final String EXPECTED =
      "must be a number of bytes such as 500MB or 1.5GiB, more than 0, but was ";

  /** Checks that there are any. */
  public ByteSize {
    if (bytes < 1) {
      throw new ConfigException("", EXPECTED + bytes);
    }
  }

  /** Reads a number with or without a unit. */
  public static ByteSize parse(String text) {
    if (!PATTERN.matcher(text).matches()) {
      throw new ConfigException("", EXPECTED + "'" + text + "'");
    }
    String unit = text.replaceFirst("^[0-9.]+ ?", "");
    var number = new BigDecimal(text.replaceFirst("[^0-9.].*$", ""));
    var bytes = number.multiply(BigDecimal.valueOf(bytesOf(unit)));
    if (bytes.compareTo(BigDecimal.ONE) < 0
        || bytes.compareTo(BigDecimal.valueOf(Long.MAX_VALUE)) > 0) {
      throw new ConfigException("", EXPECTED + "'" + text + "'");
    }
    return new ByteSize(bytes.longValue());
  }

  private static long bytesOf(String unit) {
    long base = unit.endsWith("iB") ? 1024 : 1000;
    int power = unit.length() < 2 ? 0 : " KMGT".indexOf(Character.toUpperCase(unit.charAt(0)));
    return (long) Math.pow(base, power);
  }

  /** Returns a size that holds so many bytes and is short to write. */
  public static ByteSize atLeast(long bytes) {
    long grain = Math.max(1024, Long.highestOneBit(Math.max(1, bytes)) / 16);
    return new ByteSize((bytes + grain - 1) / grain * grain);
  }

  @Override
  public String text() {
    for (String unit : new String[] {"GiB", "GB", "MiB", "MB", "KiB"}) {
      if (bytes % bytesOf(unit) == 0) {
        return bytes / bytesOf(unit) + unit;
      }
    }
    return Long.toString(bytes);
  }

  @Override
  public String toString() {
    return text();
  }
}
