package dev.flotilla.strategy.recompute;

import dev.flotilla.pass.BoundModel;
import dev.flotilla.pass.Rehearsal;
import dev.flotilla.pass.Retention;
import dev.flotilla.pass.Span;
import dev.flotilla.pass.Storehouse;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Keeps the same things in every pass. */
record FixedRetention(List<Span> spans, Storehouse storehouse, boolean keepsCores)
    implements Retention {

  /**
   * Recomputes everything up to the last of the segments whose outputs are kept. Behind that one
   * everything is kept, so nothing of it may be left to what follows.
   */
  static FixedRetention after(
      List<Integer> segments,
      BoundModel model,
      @Nullable Storehouse storehouse,
      boolean keepsCores) {
    List<Span> spans = new ArrayList<>();
    int from = 0;
    for (int segment : segments) {
      boolean isLast = segment == segments.getLast();
      int to = isLast ? model.segmentStarts().get(segment + 1) : model.cutBehind(segment);
      spans.add(Span.recomputed(from, to));
      from = to;
    }
    spans.add(Span.kept(from, model.parts().size()));
    return new FixedRetention(
        spans, storehouse == null ? Storehouse.IN_PLACE : storehouse, keepsCores);
  }

  @Override
  public List<Span> spans(Rehearsal rehearsal) {
    return spans;
  }
}
