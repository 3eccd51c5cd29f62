package dev.flotilla.launch;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;

/**
 * Keeps ranks from speaking in the launcher's name: a line of theirs that begins as the launcher's
 * own messages do gets a mark before it.
 *
 * <p>A line begins after a line end or a carriage return; colours, and characters that take no
 * place of their own, do not count. A line that begins with very many of them gets the mark too.
 * Lines may be cut between any two characters.
 */
final class PrefixGuard {

  static final String MARK = "| ";

  private static final byte[] PREFIX = "flotilla:".getBytes(StandardCharsets.US_ASCII);
  private static final int ESCAPE = 0x1b;
  private static final int MOST_HELD = 256;

  private final ByteArrayOutputStream held = new ByteArrayOutputStream();
  private boolean isAtStart = true;
  private boolean isInSequence;
  private int matched;

  /** Returns what of some bytes can be shown now; the rest may follow with the next ones. */
  byte[] guard(byte[] bytes) {
    var out = new ByteArrayOutputStream(bytes.length + MARK.length());
    int place = 0;
    while (place < bytes.length) {
      if (isAtStart) {
        int length = Math.max(1, TerminalFilter.length(Byte.toUnsignedInt(bytes[place])));
        int end = Math.min(bytes.length, place + length);
        if (length == 1) {
          take(bytes[place], out);
        } else {
          take(new String(bytes, place, end - place, StandardCharsets.UTF_8), out);
        }
        place = end;
      } else {
        // Within a line nothing is looked at: ranks may print much.
        int end = endOfLine(bytes, place);
        out.write(bytes, place, end - place);
        isAtStart = end > place && isLineEnd(bytes[end - 1]);
        place = end;
      }
    }
    return out.toByteArray();
  }

  /** Returns where the next line begins, or the end. */
  private static int endOfLine(byte[] bytes, int from) {
    int place = from;
    while (place < bytes.length && !isLineEnd(bytes[place])) {
      place++;
    }
    return Math.min(bytes.length, place + 1);
  }

  private static boolean isLineEnd(byte next) {
    return next == '\n' || next == '\r';
  }

  /** Returns what was held back, when nothing will follow on this line. */
  byte[] endLine() {
    byte[] rest = held.toByteArray();
    held.reset();
    isAtStart = true;
    isInSequence = false;
    matched = 0;
    return rest;
  }

  /** Takes a byte before a line's first words are known. */
  private void take(byte next, ByteArrayOutputStream out) {
    if (isLineEnd(next)) {
      release(out);
      out.write(next);
      isAtStart = true;
      return;
    }
    held.write(next);
    if (isInSequence) {
      isInSequence = next != 'm' && next != 'K';
    } else if (next == ESCAPE) {
      isInSequence = true;
    } else if (Character.toLowerCase(next) != PREFIX[matched]) {
      release(out);
    } else {
      matched++;
    }
    markIfForged(out);
  }

  /** Takes a character that is not ASCII before a line's first words are known. */
  private void take(String character, ByteArrayOutputStream out) {
    held.writeBytes(character.getBytes(StandardCharsets.UTF_8));
    if (!isWithoutPlace(character.codePointAt(0))) {
      release(out);
    }
    markIfForged(out);
  }

  private static boolean isWithoutPlace(int code) {
    return switch (Character.getType(code)) {
      case Character.FORMAT, Character.NON_SPACING_MARK, Character.ENCLOSING_MARK -> true;
      default -> false;
    };
  }

  private void markIfForged(ByteArrayOutputStream out) {
    if (matched == PREFIX.length || held.size() > MOST_HELD) {
      out.writeBytes(MARK.getBytes(StandardCharsets.US_ASCII));
      release(out);
    }
  }

  private void release(ByteArrayOutputStream out) {
    out.writeBytes(endLine());
    isAtStart = false;
  }
}
