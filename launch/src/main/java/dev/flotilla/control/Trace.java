package dev.flotilla.control;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;

/**
 * The memory in which a rank notes where it is: a header, a table of names, and a ring of its last
 * collectives.
 *
 * <p>Under a launcher it is a file mapped by both, so that nothing is lost with a rank that is
 * killed. One thread of the rank writes; readers may come at any time.
 */
final class Trace {

  static final int ENTRIES = 1000;
  static final int NAMES = 64;
  static final int NAME_BYTES = 64;

  static final int MICRO_STEP = 0;
  static final int UPDATES = 1;
  static final int STARTED = 2;
  static final int FINISHED = 3;
  static final int NAME_COUNT = 4;
  static final int BEGUN_AT = 5;
  private static final int HEADER_LONGS = 8;

  static final int ENTRY_LONGS = 8;

  private static final long NAMES_AT = HEADER_LONGS * (long) Long.BYTES;
  private static final long RING_AT = NAMES_AT + (long) NAMES * NAME_BYTES;
  static final long SIZE = RING_AT + (long) ENTRIES * ENTRY_LONGS * Long.BYTES;

  private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();

  private final MemorySegment memory;

  private Trace(MemorySegment memory) {
    this.memory = memory;
  }

  static Trace inMemory() {
    return new Trace(MemorySegment.ofArray(new long[Math.toIntExact(SIZE / Long.BYTES)]));
  }

  /** Maps a file that holds {@link #SIZE} bytes already. */
  static Trace map(Path file) throws IOException {
    try (var channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      if (channel.size() != SIZE) {
        throw new IOException("%s must hold %d bytes".formatted(file, SIZE));
      }
      return new Trace(channel.map(FileChannel.MapMode.READ_WRITE, 0, SIZE, Arena.ofAuto()));
    }
  }

  long get(int field) {
    return (long) LONG.getAcquire(memory, (long) field * Long.BYTES);
  }

  void set(int field, long value) {
    LONG.setRelease(memory, (long) field * Long.BYTES, value);
  }

  long get(int slot, int field) {
    return (long) LONG.getAcquire(memory, entry(slot, field));
  }

  void set(int slot, int field, long value) {
    LONG.setRelease(memory, entry(slot, field), value);
  }

  private static long entry(int slot, int field) {
    return RING_AT + ((long) slot * ENTRY_LONGS + field) * Long.BYTES;
  }

  /** Returns a name of the table; "?" for a number that makes no sense. */
  String name(long number) {
    return number < 1 || number > Math.min(NAMES - 1, get(NAME_COUNT)) ? "?" : text(number);
  }

  private String text(long number) {
    var bytes = new byte[NAME_BYTES];
    MemorySegment.copy(
        memory, ValueLayout.JAVA_BYTE, NAMES_AT + number * NAME_BYTES, bytes, 0, NAME_BYTES);
    int length = 0;
    while (length < NAME_BYTES && bytes[length] != 0) {
      length++;
    }
    return new String(bytes, 0, length, StandardCharsets.UTF_8);
  }

  /** Adds a name to the table, cut to its room; the caller sees to it that there is any. */
  int addName(String name) {
    int number = Math.toIntExact(get(NAME_COUNT)) + 1;
    write(number, name);
    set(NAME_COUNT, number);
    return number;
  }

  private void write(int number, String text) {
    var bytes = Arrays.copyOf(text.getBytes(StandardCharsets.UTF_8), NAME_BYTES);
    MemorySegment.copy(
        bytes, 0, memory, ValueLayout.JAVA_BYTE, NAMES_AT + (long) number * NAME_BYTES, NAME_BYTES);
  }

  /** Notes what the rank does outside micro-steps, in the table's first place. */
  void activity(String text) {
    write(0, text);
  }

  String activity() {
    return text(0);
  }
}
