package dev.flotilla.control;

import org.jspecify.annotations.Nullable;

/** Numbers the few names that a rank notes, without allocating for one it has seen before. */
final class NameTable {

  private static final int OTHER = 1;

  private final Trace trace;
  private final @Nullable String[] known = new @Nullable String[Trace.NAMES];
  private int count;

  NameTable(Trace trace) {
    this.trace = trace;
    number("other");
  }

  /** Returns the number of a name; all names beyond the table's room share one. */
  int number(String name) {
    for (int i = 1; i <= count; i++) {
      if (name.equals(known[i])) {
        return i;
      }
    }
    return count == Trace.NAMES - 1 ? OTHER : add(name);
  }

  private int add(String name) {
    count++;
    known[count] = name;
    return trace.addName(name);
  }
}
