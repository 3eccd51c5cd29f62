package dev.flotilla.strategy.recompute;

import dev.flotilla.memory.ComputeDevice;
import dev.flotilla.memory.NativeMemory;
import dev.flotilla.pass.CheckpointingPolicy;
import dev.flotilla.pass.ProfilingPass;
import dev.flotilla.pass.SavedTensorStore;
import dev.flotilla.pass.Span;
import dev.flotilla.settings.ByteSize;
import dev.flotilla.settings.ConfigException;
import dev.flotilla.settings.Remedy;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Measures what the parts of the first batch cost, plans, and looks in the next steps whether the
 * plan has foretold them. A batch that is larger along some axis than those planned for gets a plan
 * of its own: longer sequences cost more even where there are fewer of them.
 */
final class PlannedCheckpointing implements CheckpointingPolicy {

  private static final int ROUNDS = 5;
  private static final int WATCHED = 3;
  // The first backward of a run has its gradients outside the arena, which is no activation.
  private static final int NOT_YET = -1;
  private static final double MEBIBYTE = 1 << 20;

  private final long budget;
  private final SavedTensorStore savedTensorStore;
  private final Consumer<String> measured;
  private final PlansByShape plans = new PlansByShape();
  private @Nullable RecomputePlan plan;
  // The last plan that was made; steps by other plans tell nothing about it.
  private @Nullable RecomputePlan newest;
  private int watched;
  private ComputeDevice device = ComputeDevice.CPU;
  private long before;
  private long peak;
  private long recomputeNanos = Long.MAX_VALUE;
  private long recomputeNanosOfStep;

  PlannedCheckpointing(
      long budget, @Nullable SavedTensorStore savedTensorStore, Consumer<String> measured) {
    this.budget = budget;
    this.savedTensorStore = savedTensorStore == null ? SavedTensorStore.IN_PLACE : savedTensorStore;
    this.measured = measured;
  }

  @Override
  public List<Span> spans(ProfilingPass profiling) {
    var shapes = profiling.inputShapes();
    var found = plans.covering(shapes);
    var chosen = found.orElseGet(() -> plan(profiling));
    plan = chosen;
    if (found.isEmpty()) {
      plans.add(shapes, chosen);
      newest = chosen;
      watched = NOT_YET;
      peak = 0;
      recomputeNanos = Long.MAX_VALUE;
    }
    recomputeNanosOfStep = 0;
    device = profiling.device();
    before = isWatching() ? NativeMemory.liveBytes(device) : 0;
    return chosen.spans();
  }

  private RecomputePlan plan(ProfilingPass profiling) {
    var costs = profiling.measure(ROUNDS);
    var planner = new RecomputePlanner(costs);
    var found = planner.under(budget);
    if (found.isEmpty()) {
      throw new ConfigException(
          "strategy.recompute.memory",
          "%s is too little for this batch: its activations need at least %s even if all is recomputed; raise it, or take a smaller batch with more %s"
              .formatted(
                  new ByteSize(budget),
                  ByteSize.atLeast(planner.least()),
                  Remedy.ACCUMULATION.named()));
    }
    measured.accept(found.get().table(costs, budget));
    return found.get();
  }

  private boolean isWatching() {
    return isByNewest() && watched >= 0 && watched < WATCHED;
  }

  private boolean isByNewest() {
    return Objects.equals(plan, newest);
  }

  @Override
  public SavedTensorStore savedTensorStore() {
    return savedTensorStore;
  }

  @Override
  public void passed() {
    if (isWatching()) {
      peak = Math.max(peak, NativeMemory.liveBytes(device) - before);
    }
  }

  @Override
  public void recomputed(long nanos) {
    recomputeNanosOfStep += nanos;
  }

  @Override
  public void ended() {
    if (watched == WATCHED || !isByNewest()) {
      return;
    }
    recomputeNanos = Math.min(recomputeNanos, recomputeNanosOfStep);
    watched++;
    if (watched == WATCHED) {
      var predicted = Objects.requireNonNull(plan);
      measured.accept(
          String.format(
              Locale.ROOT,
              "recompute: activations peaked at %.1f MiB (predicted %.1f), recomputing took %.1f ms"
                  + " a micro-step (predicted %.1f)",
              peak / MEBIBYTE,
              predicted.peakBytes() / MEBIBYTE,
              recomputeNanos / 1e6,
              predicted.extraNanos() / 1e6));
    }
  }

  @Override
  public Map<String, Object> metrics() {
    if (newest == null) {
      return Map.of();
    }
    Map<String, Object> metrics = new LinkedHashMap<>();
    metrics.put("predicted_peak_bytes", newest.peakBytes());
    metrics.put("measured_peak_bytes", peak);
    metrics.put("predicted_extra_seconds", newest.extraNanos() / 1e9);
    metrics.put("measured_extra_seconds", recomputeNanos / 1e9);
    return Map.of("recompute", metrics);
  }
}
