package dev.flotilla.pickle;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** A value of a pickle. */
public sealed interface Pickled {

  /** Python's None. */
  record None() implements Pickled {}

  /** True or false. */
  record Truth(boolean value) implements Pickled {}

  /** A whole number that fits 64 bits. */
  record Whole(long value) implements Pickled {}

  /** A floating-point number. */
  record Real(double value) implements Pickled {}

  /** Text. */
  record Text(String value) implements Pickled {}

  /** Bytes, or a text of Python 2, which is bytes as well. */
  final class Bytes implements Pickled {
    private final byte[] value;

    Bytes(byte[] value) {
      this.value = value;
    }

    /** Returns the bytes, which must not be changed. */
    public byte[] value() {
      return value;
    }
  }

  /** A list or a set, which later instructions may still fill. */
  record Sequence(List<Pickled> items) implements Pickled {
    Sequence() {
      this(new ArrayList<>());
    }
  }

  /** A tuple. */
  record Tuple(List<Pickled> items) implements Pickled {}

  /** A dictionary in the order of its entries, which later instructions may still fill. */
  record Dictionary(List<Entry> entries) implements Pickled {
    Dictionary() {
      this(new ArrayList<>());
    }
  }

  /** An entry of a dictionary. */
  record Entry(Pickled key, Pickled value) {}

  /** A function or class by its name, which is on the list of allowed ones. */
  record Global(String name) implements Pickled {}

  /** A reference to something outside the pickle. */
  record Persistent(Pickled id) implements Pickled {}

  /** What calling a function would have made; it is not called. */
  final class Call implements Pickled {
    private final String function;
    private final List<Pickled> arguments;
    private @Nullable Pickled state;

    /** An {@code OrderedDict} is made by a call and then filled. */
    private final Dictionary entries = new Dictionary();

    Call(String function, List<Pickled> arguments) {
      this.function = function;
      this.arguments = arguments;
    }

    /** Returns the name of the function. */
    public String function() {
      return function;
    }

    /** Returns the arguments. */
    public List<Pickled> arguments() {
      return arguments;
    }

    /** Returns the state that was set afterwards, if any. */
    public Pickled state() {
      return Objects.requireNonNullElseGet(state, None::new);
    }

    /** Returns the entries that were added afterwards. */
    public Dictionary entries() {
      return entries;
    }

    void state(Pickled value) {
      state = value;
    }
  }
}
