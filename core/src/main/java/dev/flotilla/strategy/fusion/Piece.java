package dev.flotilla.strategy.fusion;

import dev.flotilla.arena.Bucket.Range;
import dev.flotilla.arena.Layout;
import dev.flotilla.arena.Slot;
import java.util.ArrayList;
import java.util.List;

/**
 * What is never cut: the gradients of one layer, which come together.
 *
 * @param firstSlot number of its first parameter in the layout
 * @param tensors how many there are
 * @param range where they lie, with the gap behind
 */
record Piece(int firstSlot, int tensors, Range range) {

  /** Returns the layers of a layout in the order of backward; a layer's parameters share a name. */
  static List<Piece> layers(Layout layout) {
    return pieces(layout, true);
  }

  /** Returns the tensors of a layout in the order of backward. */
  static List<Piece> tensors(Layout layout) {
    return pieces(layout, false);
  }

  private static List<Piece> pieces(Layout layout, boolean byLayer) {
    var slots = layout.slots();
    List<Piece> pieces = new ArrayList<>();
    for (int first = 0, next; first < slots.size(); first = next) {
      next = first + 1;
      while (byLayer && next < slots.size() && layer(slots, next).equals(layer(slots, first))) {
        next++;
      }
      long from = slots.get(first).offset();
      long to = next < slots.size() ? slots.get(next).offset() : layout.length();
      pieces.add(new Piece(first, next - first, new Range(from, to - from)));
    }
    return pieces.reversed();
  }

  private static String layer(List<Slot> slots, int index) {
    String name = slots.get(index).spec().name();
    return name.substring(0, Math.max(0, name.lastIndexOf('.')));
  }

  /** Returns the one bucket of pieces that follow each other in backward. */
  static Range together(List<Piece> pieces) {
    long from = pieces.getLast().range().offset();
    var first = pieces.getFirst().range();
    return new Range(from, first.offset() + first.length() - from);
  }
}
