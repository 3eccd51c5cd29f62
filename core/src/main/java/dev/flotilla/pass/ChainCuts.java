package dev.flotilla.pass;

import dev.flotilla.model.Segment;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.IntStream;

/** Where the chain of a model's parts can be cut: each place is the number of the part behind. */
public final class ChainCuts {

  private final List<BoundPart> parts;
  private final List<Integer> segmentStarts;
  private final Set<Integer> pauses;

  ChainCuts(List<Segment> segments, List<BoundPart> parts) {
    this.parts = parts;
    this.segmentStarts =
        IntStream.range(0, parts.size()).filter(i -> parts.get(i).index() == 0).boxed().toList();
    this.pauses = Collections.unmodifiableSet(pauses(segments));
  }

  private Set<Integer> pauses(List<Segment> segments) {
    Set<Integer> found = new TreeSet<>();
    Set<String> seen = new HashSet<>();
    for (int i = 0; i < segmentStarts.size(); i++) {
      long again = segments.get(i).parameters().stream().filter(p -> !seen.add(p.name())).count();
      if (again > 0) {
        found.add(segmentStarts.get(i));
      }
    }
    return found;
  }

  /** Returns the number of the first part of each segment, in forward order. */
  public List<Integer> segmentStarts() {
    return segmentStarts;
  }

  /**
   * Returns the parts before which backward always pauses: where a segment uses a parameter that an
   * earlier one has used, so that both gradients are added in the same order whatever is
   * recomputed.
   */
  Set<Integer> pauses() {
    return pauses;
  }

  /**
   * Returns the part before which to cut the chain behind a segment: the one after the segment's
   * last final function, which recomputation can then leave out. What follows that in the segment
   * is run again with the next one, unless backward has to pause between them.
   */
  public int behind(int segment) {
    int end = end(segment);
    return pauses.contains(end) ? end : behindFinalFunction(segment);
  }

  private int end(int segment) {
    return segment + 1 < segmentStarts.size() ? segmentStarts.get(segment + 1) : parts.size();
  }

  /**
   * Returns the part after a segment's last final function, whether or not backward pauses behind
   * the segment: what follows in it belongs to a span of its own then.
   */
  public int behindFinalFunction(int segment) {
    int end = end(segment);
    for (int i = end; i > segmentStarts.get(segment); i--) {
      if (parts.get(i - 1).part().finalFunction() != null) {
        return i;
      }
    }
    return end;
  }
}
