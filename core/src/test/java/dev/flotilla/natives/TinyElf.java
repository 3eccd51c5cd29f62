package dev.flotilla.natives;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** Writes the smallest shared library that names what it needs and what it defines. */
final class TinyElf {

  private static final int HEADER = 64;
  private static final int SECTION = 64;

  private final List<String> needed = new ArrayList<>();
  private final List<String> defined = new ArrayList<>();

  TinyElf needs(List<String> names) {
    needed.addAll(names);
    return this;
  }

  TinyElf defines(List<String> names) {
    defined.addAll(names);
    return this;
  }

  byte[] bytes() {
    var text = new StringBuilder("\0");
    long[] neededAt = needed.stream().mapToLong(name -> append(text, name)).toArray();
    long[] definedAt = defined.stream().mapToLong(name -> append(text, name)).toArray();
    var strings = text.toString().getBytes(StandardCharsets.UTF_8);
    int dynamic = HEADER + strings.length;
    int symbols = dynamic + 16 * neededAt.length;
    int table = symbols + 24 * definedAt.length;
    var out = ByteBuffer.allocate(table + 3 * SECTION).order(ByteOrder.LITTLE_ENDIAN);
    out.putInt(0, 0x464c457f).putLong(40, table);
    out.putShort(58, (short) SECTION).putShort(60, (short) 3);
    out.put(HEADER, strings);
    for (int i = 0; i < neededAt.length; i++) {
      out.putLong(dynamic + 16 * i, 1).putLong(dynamic + 16 * i + 8, neededAt[i]);
    }
    for (int i = 0; i < definedAt.length; i++) {
      out.putInt(symbols + 24 * i, (int) definedAt[i]).putShort(symbols + 24 * i + 6, (short) 5);
    }
    section(out, table, 3, HEADER, strings.length);
    section(out, table + SECTION, 6, dynamic, symbols - dynamic);
    section(out, table + 2 * SECTION, 11, symbols, table - symbols);
    return out.array();
  }

  private static long append(StringBuilder text, String name) {
    long at = text.length();
    text.append(name).append('\0');
    return at;
  }

  private static void section(ByteBuffer out, int at, int type, long offset, long size) {
    out.putInt(at + 4, type).putLong(at + 24, offset).putLong(at + 32, size).putInt(at + 40, 0);
  }
}
