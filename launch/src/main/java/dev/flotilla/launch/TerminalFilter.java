package dev.flotilla.launch;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;

/**
 * Lets nothing through to a terminal that could command it.
 *
 * <p>What a rank or another host says may hold anything: sequences that change the title, move the
 * cursor over earlier lines, or type into the shell. Text, line ends, tabulators, carriage returns,
 * colours and the erasing of a line pass; every other control character becomes a question mark.
 * Sequences may be cut anywhere between two calls.
 */
final class TerminalFilter {

  private static final int ESCAPE = 0x1b;
  private static final int DELETE = 0x7f;

  /** Begins the two bytes in UTF-8 of what are control characters as well. */
  private static final int FIRST_OF_C1 = 0xc2;

  private static final int LONGEST_SEQUENCE = 32;

  private final ByteArrayOutputStream sequence = new ByteArrayOutputStream();

  /** Returns what of some bytes may be shown now; the rest may follow with the next ones. */
  byte[] filter(byte[] bytes, int count) {
    var out = new ByteArrayOutputStream(count + LONGEST_SEQUENCE);
    int place = 0;
    while (place < count) {
      int end = sequence.size() == 0 ? endOfText(bytes, place, count) : place;
      if (end > place) {
        out.write(bytes, place, end - place);
        place = end;
      } else {
        take(Byte.toUnsignedInt(bytes[place++]), out);
      }
    }
    return out.toByteArray();
  }

  /** Returns where something comes that is not to be shown as it is, or the end. */
  private static int endOfText(byte[] bytes, int from, int count) {
    int place = from;
    while (place < count
        && isHarmless(Byte.toUnsignedInt(bytes[place]))
        && Byte.toUnsignedInt(bytes[place]) != FIRST_OF_C1) {
      place++;
    }
    return place;
  }

  /** Returns a whole text without what could command a terminal. */
  static String text(String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    var filter = new TerminalFilter();
    String shown = new String(filter.filter(bytes, bytes.length), StandardCharsets.UTF_8);
    return filter.sequence.size() > 0 ? shown + "?" : shown;
  }

  private void take(int next, ByteArrayOutputStream out) {
    if (sequence.size() > 0) {
      proceed(next, out);
    } else if (next == ESCAPE || next == FIRST_OF_C1) {
      sequence.write(next);
    } else {
      out.write(isHarmless(next) ? next : '?');
    }
  }

  private static boolean isHarmless(int next) {
    return (next >= ' ' && next != DELETE) || next == '\n' || next == '\r' || next == '\t';
  }

  private void proceed(int next, ByteArrayOutputStream out) {
    int place = sequence.size();
    boolean isC1 = place == 1 && sequence.toByteArray()[0] == (byte) FIRST_OF_C1;
    sequence.write(next);
    if (isC1) {
      end(next >= 0xa0 && next <= 0xbf, next < 0x80 || next > 0xbf, next, out);
    } else if (place == 1 ? next != '[' : isEnd(next)) {
      boolean isColour = place > 1 && (next == 'm' || next == 'K');
      end(isColour, next < ' ' || next == FIRST_OF_C1, next, out);
    } else if (place == LONGEST_SEQUENCE) {
      end(false, false, next, out);
    }
  }

  /** Parameters of a sequence are digits and semicolons. */
  private static boolean isEnd(int next) {
    return !(next >= '0' && next <= '9') && next != ';';
  }

  /** A line end, or the start of another sequence, is not part of a broken one. */
  private void end(boolean isHarmless, boolean isLastApart, int last, ByteArrayOutputStream out) {
    byte[] whole = sequence.toByteArray();
    sequence.reset();
    if (isHarmless) {
      out.writeBytes(whole);
      return;
    }
    out.write('?');
    if (isLastApart) {
      take(last, out);
    }
  }
}
