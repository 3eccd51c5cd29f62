package dev.flotilla.strategy.recompute;

import dev.flotilla.pass.BoundModel;
import dev.flotilla.pass.CheckpointingPolicy;
import dev.flotilla.pass.ProfilingPass;
import dev.flotilla.pass.SavedTensorStore;
import dev.flotilla.pass.Span;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Keeps the same things in every pass. */
record FixedCheckpointing(
    List<Span> spans, SavedTensorStore savedTensorStore, boolean savesFunctionOutputs)
    implements CheckpointingPolicy {

  /**
   * Recomputes everything up to the last of the segments whose outputs are kept. What follows is
   * kept, the end of that segment too, so that its final function need not run again.
   */
  static FixedCheckpointing after(
      List<Integer> segments,
      BoundModel model,
      @Nullable SavedTensorStore savedTensorStore,
      boolean savesFunctionOutputs) {
    List<Span> spans = new ArrayList<>();
    int from = 0;
    for (int segment : segments) {
      boolean isLast = segment == segments.getLast();
      int to = isLast ? model.cuts().behindFinalFunction(segment) : model.cuts().behind(segment);
      spans.add(Span.recomputed(from, to));
      from = to;
    }
    spans.add(Span.kept(from, model.parts().size()));
    return new FixedCheckpointing(
        spans,
        savedTensorStore == null ? SavedTensorStore.IN_PLACE : savedTensorStore,
        savesFunctionOutputs);
  }

  @Override
  public List<Span> spans(ProfilingPass profiling) {
    return spans;
  }
}
