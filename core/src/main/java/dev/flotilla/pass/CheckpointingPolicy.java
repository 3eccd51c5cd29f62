package dev.flotilla.pass;

import dev.flotilla.memory.TensorWindow;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Decides what a forward pass keeps for backward, and what backward makes anew. */
public interface CheckpointingPolicy extends AutoCloseable {

  /**
   * Returns the spans of the next pass; they cover all parts, and the last one is kept.
   *
   * @param profiling can run the batch at hand to see what its parts cost
   */
  List<Span> spans(ProfilingPass profiling);

  /** Returns where kept inputs of recomputed spans wait for backward. */
  default SavedTensorStore savedTensorStore() {
    return SavedTensorStore.IN_PLACE;
  }

  /** Tells whether recomputed spans save the outputs of custom functions. */
  default boolean savesFunctionOutputs() {
    return false;
  }

  /** Returns what keeps products of recomputed spans; null where none are kept. */
  default @Nullable TensorWindow keptProducts() {
    return null;
  }

  /** Hears when a place is reached where much is alive, in forward and in backward. */
  default void passed() {}

  /** Hears how long a recomputation has taken. */
  default void recomputed(long nanos) {}

  /** Hears that backward has ended. */
  default void ended() {}

  /** Returns what the run's summary should say; nothing by default. */
  default Map<String, Object> metrics() {
    return Map.of();
  }

  /** Frees what it holds. */
  @Override
  default void close() {
    savedTensorStore().close();
  }
}
