package dev.flotilla.launch;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;

/**
 * Lets nothing through to a terminal that could command it.
 *
 * <p>What a rank or another host says may hold anything: sequences that change the title, move the
 * cursor over earlier lines, or type into the shell. Text, line ends, tabulators, carriage returns,
 * colours and the erasing of a line pass; every other control character becomes a question mark. So
 * does what is not UTF-8, as some terminals take a single byte for a control character, and what
 * changes the direction of text or cannot be seen, but for the joiners that scripts need. Sequences
 * and characters may be cut anywhere between two calls; what passes is made of whole characters.
 */
final class TerminalFilter {

  private static final int ESCAPE = 0x1b;
  private static final int DELETE = 0x7f;

  /** The first byte that is not ASCII. */
  private static final int BEYOND_ASCII = 0x80;

  private static final int NON_JOINER = 0x200c;
  private static final int JOINER = 0x200d;

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
    while (place < count && bytes[place] >= 0 && isHarmless(Byte.toUnsignedInt(bytes[place]))) {
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
    } else if (next == ESCAPE || length(next) > 1) {
      sequence.write(next);
    } else {
      out.write(next < BEYOND_ASCII && isHarmless(next) ? next : '?');
    }
  }

  private static boolean isHarmless(int next) {
    return (next >= ' ' && next != DELETE) || next == '\n' || next == '\r' || next == '\t';
  }

  /** Returns of how many bytes a character in UTF-8 is that begins so; 0 if none does. */
  static int length(int first) {
    if (first < BEYOND_ASCII) {
      return 1;
    }
    return first < 0xc2 || first > 0xf4 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  }

  private void proceed(int next, ByteArrayOutputStream out) {
    int first = Byte.toUnsignedInt(sequence.toByteArray()[0]);
    if (first == ESCAPE) {
      proceedSequence(next, out);
    } else if (next >> 6 != 2) {
      end(false, true, next, out);
    } else {
      sequence.write(next);
      if (sequence.size() == length(first)) {
        end(isShown(sequence.toString(StandardCharsets.UTF_8)), false, next, out);
      }
    }
  }

  /** What is no character is read as a replacement for one. */
  private static boolean isShown(String character) {
    int code = character.codePointAt(0);
    return switch (Character.getType(code)) {
      case Character.CONTROL, Character.LINE_SEPARATOR, Character.PARAGRAPH_SEPARATOR -> false;
      case Character.FORMAT -> code == NON_JOINER || code == JOINER;
      default -> code != '\ufffd';
    };
  }

  private void proceedSequence(int next, ByteArrayOutputStream out) {
    int place = sequence.size();
    sequence.write(next);
    if (place == 1 ? next != '[' : isEnd(next)) {
      boolean isColour = place > 1 && (next == 'm' || next == 'K');
      end(isColour, next < ' ' || next >= BEYOND_ASCII, next, out);
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
