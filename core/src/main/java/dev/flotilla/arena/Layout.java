package dev.flotilla.arena;

import dev.flotilla.arena.Bucket.Range;
import dev.flotilla.memory.Precision;
import dev.flotilla.model.Model;
import dev.flotilla.model.ParameterSpec;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;

/**
 * Where each parameter lies in an arena, as data.
 *
 * <p>Parameters lie in forward order; each starts at a multiple of {@value #ALIGNMENT} elements.
 * The gaps are zero and stay zero under every optimizer.
 *
 * @param slots places in forward order
 * @param length number of elements, gaps included
 * @param precision dtype of every element
 */
public record Layout(List<Slot> slots, long length, Precision precision) {

  /** 64 bytes of float32: a cache line and the widest vector register. */
  static final int ALIGNMENT = 16;

  /** Lays out parameters in the given order. */
  public static Layout of(List<ParameterSpec> parameters, Precision precision) {
    List<Slot> slots = new ArrayList<>();
    long offset = 0;
    for (var spec : parameters) {
      slots.add(new Slot(spec, offset));
      offset = align(offset + spec.shape().elements());
    }
    return new Layout(List.copyOf(slots), offset, precision);
  }

  private static long align(long offset) {
    return (offset + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  }

  /**
   * Returns where the parameters of each segment of a model lie, those of tied ones with the first
   * that uses them; segments without any have an empty range.
   */
  public List<Range> segmentsOf(Model model) {
    List<Range> ranges = new ArrayList<>();
    Set<String> seen = new HashSet<>();
    int next = 0;
    for (var segment : model.segments()) {
      Set<String> names = new HashSet<>();
      segment.parameters().stream().map(ParameterSpec::name).filter(seen::add).forEach(names::add);
      long from = start(next);
      while (next < slots.size() && names.contains(slots.get(next).spec().name())) {
        next++;
      }
      ranges.add(new Range(from, start(next) - from));
    }
    if (next < slots.size()) {
      throw new IllegalStateException(
          slots.get(next).spec().name() + " belongs to no segment of " + model.name());
    }
    return ranges;
  }

  private long start(int slot) {
    return slot < slots.size() ? slots.get(slot).offset() : length;
  }

  /** Returns the parameters that lie in a part of the arena, in its order. */
  public List<Slot> in(Range range) {
    return slots.stream().filter(slot -> range.holds(slot.range())).toList();
  }

  /** Returns the bytes of one arena. */
  public long bytes() {
    return length * precision.bytes();
  }

  /** Returns a hash of names, shapes, offsets and type, equal on ranks whose arenas agree. */
  public String hash() {
    var text = new StringBuilder(precision.name());
    for (var slot : slots) {
      text.append('\n').append(slot.spec().name()).append(' ');
      text.append(slot.spec().shape()).append(' ').append(slot.offset());
    }
    return HexFormat.of().formatHex(sha256(text.toString()));
  }

  private static byte[] sha256(String text) {
    try {
      var digest = MessageDigest.getInstance("SHA-256");
      return digest.digest(text.getBytes(StandardCharsets.UTF_8));
    } catch (NoSuchAlgorithmException impossible) {
      throw new IllegalStateException("every JDK has SHA-256", impossible);
    }
  }
}
