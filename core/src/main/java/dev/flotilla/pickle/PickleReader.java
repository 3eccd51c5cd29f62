package dev.flotilla.pickle;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Reads one pickle of protocols 0 to 5.
 *
 * <p>An instruction of one byte makes an object of some dozens, so their number is limited to
 * {@value #MOST_INSTRUCTIONS}: beside its own bytes a pickle takes at most a few hundred megabytes.
 *
 * <p>Not thread-safe; used once.
 */
public final class PickleReader {

  /** A hundred thousand tensors take about as many. */
  static final int MOST_INSTRUCTIONS = 4_000_000;

  private final PickleBytes in;
  private final Set<String> allowedGlobals;
  private final List<Pickled> stack = new ArrayList<>();
  private final List<Integer> marks = new ArrayList<>();
  private final Map<Integer, Pickled> memo = new HashMap<>();
  private long at;
  private int instructions;

  private PickleReader(byte[] pickle, Set<String> allowedGlobals) {
    this.in = new PickleBytes(pickle);
    this.allowedGlobals = allowedGlobals;
  }

  /**
   * Reads a pickle.
   *
   * @param allowedGlobals full names of functions and classes that it may mention
   * @throws PickleException if it is malformed, or mentions anything else
   */
  public static Pickled read(byte[] pickle, Set<String> allowedGlobals) throws PickleException {
    return new PickleReader(pickle, allowedGlobals).run();
  }

  private Pickled run() throws PickleException {
    while (true) {
      at = in.position();
      int code = in.unsignedByte();
      if (code == '.') {
        return pop();
      }
      if (++instructions > MOST_INSTRUCTIONS) {
        throw problem("has more than %d instructions".formatted(MOST_INSTRUCTIONS));
      }
      execute(code);
    }
  }

  private void execute(int code) throws PickleException {
    if (!constant(code) && !container(code) && !memory(code) && !object(code)) {
      throw problem("unknown instruction 0x%02x".formatted(code));
    }
  }

  private boolean constant(int code) throws PickleException {
    switch (code) {
      case 'N' -> push(new Pickled.None());
      case 0x88 -> push(new Pickled.Truth(true));
      case 0x89 -> push(new Pickled.Truth(false));
      case 'I' -> push(PickleNumbers.line(in));
      case 'J' -> push(new Pickled.Whole(in.int32()));
      case 'K' -> push(new Pickled.Whole(in.unsignedByte()));
      case 'M' -> push(new Pickled.Whole(in.unsigned16()));
      case 'L' -> push(PickleNumbers.longLine(in));
      case 0x8a -> push(PickleNumbers.littleEndian(in, in.unsignedByte()));
      case 0x8b -> push(PickleNumbers.littleEndian(in, in.length32()));
      case 'F' -> push(PickleNumbers.realLine(in));
      case 'G' -> push(new Pickled.Real(in.bigEndianDouble()));
      case 'S' -> push(new Pickled.Text(PickleNumbers.quoted(in)));
      case 'V' -> push(new Pickled.Text(in.line()));
      case 'T', 'B' -> push(new Pickled.Bytes(in.bytes(in.length32())));
      case 'U', 'C' -> push(new Pickled.Bytes(in.bytes(in.unsignedByte())));
      case 0x8e -> push(new Pickled.Bytes(in.bytes(in.length64())));
      case 'X' -> push(new Pickled.Text(in.utf8(in.length32())));
      case 0x8c -> push(new Pickled.Text(in.utf8(in.unsignedByte())));
      case 0x8d -> push(new Pickled.Text(in.utf8(in.length64())));
      case 0x80 -> requireProtocol(in.unsignedByte());
      case 0x95 -> in.length64();
      default -> {
        return false;
      }
    }
    return true;
  }

  private void requireProtocol(int version) throws PickleException {
    if (version > 5) {
      throw problem("has protocol %d, but 0 to 5 are known".formatted(version));
    }
  }

  private boolean container(int code) throws PickleException {
    switch (code) {
      case '(' -> marks.add(stack.size());
      case ']', 0x8f -> push(new Pickled.Sequence());
      case 'l' -> push(new Pickled.Sequence(new ArrayList<>(popToMark())));
      case 'a' -> append(List.of(pop()));
      case 'e', 0x90 -> append(popToMark());
      case ')' -> push(new Pickled.Tuple(List.of()));
      case 't', 0x91 -> push(new Pickled.Tuple(popToMark()));
      case 0x85, 0x86, 0x87 -> push(new Pickled.Tuple(pop(code - 0x84)));
      case '}' -> push(new Pickled.Dictionary());
      case 'd' -> {
        var items = popToMark();
        push(new Pickled.Dictionary());
        put(items);
      }
      case 's' -> put(pop(2));
      case 'u' -> put(popToMark());
      default -> {
        return false;
      }
    }
    return true;
  }

  private boolean memory(int code) throws PickleException {
    switch (code) {
      case '0' -> pop();
      case '1' -> popToMark();
      case '2' -> push(top());
      case 'p' -> remember(in.wholeLine());
      case 'q' -> remember(in.unsignedByte());
      case 'r' -> remember(in.length32());
      case 0x94 -> remember(memo.size());
      case 'g' -> push(recall(in.wholeLine()));
      case 'h' -> push(recall(in.unsignedByte()));
      case 'j' -> push(recall(in.length32()));
      default -> {
        return false;
      }
    }
    return true;
  }

  private boolean object(int code) throws PickleException {
    switch (code) {
      case 'c' -> push(global(in.line(), in.line()));
      case 0x93 -> {
        var names = pop(2);
        push(global(text(names.get(0)), text(names.get(1))));
      }
      case 'R', 0x81 -> {
        var call = pop(2);
        push(call(call.get(0), call.get(1)));
      }
      case 'b' -> {
        var state = pop();
        build(state);
      }
      case 'P' -> push(new Pickled.Persistent(new Pickled.Text(in.line())));
      case 'Q' -> push(new Pickled.Persistent(pop()));
      default -> {
        return false;
      }
    }
    return true;
  }

  private Pickled global(String module, String name) throws PickleException {
    String full = module + "." + name;
    if (!allowedGlobals.contains(full)) {
      throw problem(
          "mentions %s, which is not among the allowed names and is not loaded".formatted(full));
    }
    return new Pickled.Global(full);
  }

  private Pickled call(Pickled function, Pickled arguments) throws PickleException {
    if (function instanceof Pickled.Global global && arguments instanceof Pickled.Tuple tuple) {
      return new Pickled.Call(global.name(), tuple.items());
    }
    throw problem("calls something that is not a named function");
  }

  private void build(Pickled state) throws PickleException {
    if (!(top() instanceof Pickled.Call call)) {
      throw problem("sets the state of something that is not an object");
    }
    call.state(state);
  }

  private void append(List<Pickled> items) throws PickleException {
    if (!(top() instanceof Pickled.Sequence sequence)) {
      throw problem("appends to something that is not a list");
    }
    sequence.items().addAll(items);
  }

  private void put(List<Pickled> items) throws PickleException {
    var target =
        switch (top()) {
          case Pickled.Dictionary dictionary -> dictionary;
          case Pickled.Call call -> call.entries();
          default -> throw problem("adds entries to something that is not a dictionary");
        };
    if (items.size() % 2 != 0) {
      throw problem("adds a key without a value");
    }
    for (int i = 0; i < items.size(); i += 2) {
      target.entries().add(new Pickled.Entry(items.get(i), items.get(i + 1)));
    }
  }

  private String text(Pickled value) throws PickleException {
    if (value instanceof Pickled.Text text) {
      return text.value();
    }
    throw problem("names a function by something that is not text");
  }

  private void push(Pickled value) {
    stack.add(value);
  }

  private Pickled top() throws PickleException {
    requireItems(1);
    return stack.getLast();
  }

  private Pickled pop() throws PickleException {
    requireItems(1);
    return stack.removeLast();
  }

  private List<Pickled> pop(int count) throws PickleException {
    requireItems(count);
    return cut(stack.size() - count);
  }

  private List<Pickled> popToMark() throws PickleException {
    if (marks.isEmpty()) {
      throw problem("ends a group that was never begun");
    }
    return cut(marks.removeLast());
  }

  private List<Pickled> cut(int from) {
    var tail = stack.subList(from, stack.size());
    var items = Collections.unmodifiableList(new ArrayList<>(tail));
    tail.clear();
    return items;
  }

  /** Nothing below the last mark may be taken before its group ends. */
  private void requireItems(int count) throws PickleException {
    int floor = marks.isEmpty() ? 0 : marks.getLast();
    if (stack.size() - count < floor) {
      throw problem("takes a value that is not there");
    }
  }

  private void remember(int key) throws PickleException {
    memo.put(key, top());
  }

  private Pickled recall(int key) throws PickleException {
    var value = memo.get(key);
    if (value == null) {
      throw problem("recalls value %d, which was never kept".formatted(key));
    }
    return value;
  }

  private PickleException problem(String what) {
    return new PickleException(at, what);
  }
}
