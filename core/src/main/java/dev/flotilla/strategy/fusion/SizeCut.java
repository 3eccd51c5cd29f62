package dev.flotilla.strategy.fusion;

import dev.flotilla.arena.Bucket.Range;
import dev.flotilla.arena.Layout;
import java.util.ArrayList;
import java.util.List;

/**
 * Cuts by size: a bucket is closed when it holds enough bytes or tensors.
 *
 * <p>The last bucket, of the layers next to the input, is small: nothing is left of backward that
 * it could hide behind.
 *
 * @param bytes a bucket is closed once it holds so many
 * @param mostTensors a bucket never holds more, unless a layer does
 * @param lastBytes the last bucket holds at most so many; if its first layer has more, it is cut
 *     like the others
 */
record SizeCut(double bytes, int mostTensors, double lastBytes) {

  /** Returns where buckets lie, in the order of backward. */
  List<Range> ranges(Layout layout) {
    var pieces = mostTensors == 1 ? Piece.tensors(layout) : Piece.layers(layout);
    int width = layout.precision().bytes();
    int last = pieces.size() - lastPieces(pieces, width);
    List<Range> ranges = new ArrayList<>();
    List<Piece> open = new ArrayList<>();
    for (var piece : pieces.subList(0, last)) {
      if (!open.isEmpty() && tensors(open) + piece.tensors() > mostTensors) {
        close(open, ranges);
      }
      open.add(piece);
      if (length(open) * width >= bytes) {
        close(open, ranges);
      }
    }
    close(open, ranges);
    close(new ArrayList<>(pieces.subList(last, pieces.size())), ranges);
    return List.copyOf(ranges);
  }

  private static void close(List<Piece> open, List<Range> ranges) {
    if (!open.isEmpty()) {
      ranges.add(Piece.together(open));
      open.clear();
    }
  }

  /** Returns how many pieces next to the input make the last bucket. */
  private int lastPieces(List<Piece> pieces, int width) {
    int count = 0;
    int tensors = 0;
    double sum = 0;
    for (var piece : pieces.reversed()) {
      sum += (double) piece.range().length() * width;
      tensors += piece.tensors();
      if (sum > lastBytes || tensors > mostTensors) {
        break;
      }
      count++;
    }
    return count;
  }

  private static int tensors(List<Piece> pieces) {
    return pieces.stream().mapToInt(Piece::tensors).sum();
  }

  private static double length(List<Piece> pieces) {
    return pieces.stream().mapToLong(piece -> piece.range().length()).sum();
  }
}
