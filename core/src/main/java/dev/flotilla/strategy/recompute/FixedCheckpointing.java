package dev.flotilla.strategy.recompute;

import dev.flotilla.memory.TensorWindow;
import dev.flotilla.pass.BoundModel;
import dev.flotilla.pass.CheckpointingPolicy;
import dev.flotilla.pass.ProfilingPass;
import dev.flotilla.pass.SavedTensorStore;
import dev.flotilla.pass.Span;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Keeps the same things in every pass. */
final class FixedCheckpointing implements CheckpointingPolicy {

  /** The first pass of a span has a graph and keeps no products. */
  private static final int PASSES_THAT_TELL = 2;

  private final List<Span> spans;
  private final SavedTensorStore savedTensorStore;
  private final boolean savesFunctionOutputs;
  private final @Nullable TensorWindow keptProducts;
  private final Consumer<String> notices;
  private int passes;

  private FixedCheckpointing(
      List<Span> spans,
      SavedTensorStore savedTensorStore,
      boolean savesFunctionOutputs,
      @Nullable TensorWindow keptProducts,
      Consumer<String> notices) {
    this.spans = List.copyOf(spans);
    this.savedTensorStore = savedTensorStore;
    this.savesFunctionOutputs = savesFunctionOutputs;
    this.keptProducts = keptProducts;
    this.notices = notices;
  }

  /**
   * Recomputes everything up to the last of the segments whose outputs are kept. What follows is
   * kept, the end of that segment too, so that its final function need not run again.
   */
  static FixedCheckpointing after(
      List<Integer> segments,
      BoundModel model,
      @Nullable SavedTensorStore savedTensorStore,
      boolean savesFunctionOutputs,
      @Nullable TensorWindow keptProducts,
      Consumer<String> notices) {
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
        savesFunctionOutputs,
        keptProducts,
        notices);
  }

  @Override
  public List<Span> spans(ProfilingPass profiling) {
    if (keptProducts != null) {
      keptProducts.begin();
    }
    return spans;
  }

  @Override
  public SavedTensorStore savedTensorStore() {
    return savedTensorStore;
  }

  @Override
  public boolean savesFunctionOutputs() {
    return savesFunctionOutputs;
  }

  @Override
  public @Nullable TensorWindow keptProducts() {
    return keptProducts;
  }

  @Override
  public void ended() {
    passes++;
    if (passes == PASSES_THAT_TELL && keptProducts != null && !keptProducts.isUsed()) {
      notices.accept(
          "recompute.keep_products has no effect: it keeps products of mixed precision with bf16 on"
              + " a GPU, and needs room for one at least");
    }
  }
}
