package dev.flotilla.strategy.ema;

import dev.flotilla.arena.Bucket.Range;
import dev.flotilla.arena.ParameterArena;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.pass.BoundModel;
import dev.flotilla.pass.RunningStatistics;
import dev.flotilla.state.RunState;
import dev.flotilla.state.State;
import dev.flotilla.step.MovingAverage;
import dev.flotilla.step.StepContext;
import dev.flotilla.step.Sync;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.bytedeco.pytorch.Tensor;
import org.jspecify.annotations.Nullable;

/**
 * The moving average of what this rank updates, and of its running statistics.
 *
 * <p>It takes the memory of those, and no collective until somebody looks at it. To be looked at it
 * changes places with the parameters, so that whoever gathers or averages these does the same with
 * it.
 */
final class WeightAverage implements MovingAverage {

  private final Ema settings;
  private final BoundModel model;
  private final ParameterArena arena;
  private final boolean isAlone;
  private final Consumer<String> notices;
  private final List<AveragedSlice> parameters = new ArrayList<>();
  private @Nullable AveragedSlice running;
  private @Nullable Sync sync;
  private @Nullable RunningStatistics statistics;
  private long averagings;

  WeightAverage(Ema settings, StepContext context) {
    this.settings = settings;
    this.model = context.model();
    this.arena = context.arena();
    this.isAlone = context.collective().size() == 1;
    this.notices = context.notices();
  }

  @Override
  public void follow(Sync updates, RunningStatistics ofBatches) {
    sync = updates;
    statistics = ofBatches;
    try (var _ = TensorScope.open()) {
      for (var range : updates.updated(arena.layout())) {
        parameters.add(AveragedSlice.of(range, arena.updatedValues(range)));
      }
      var flat = model.buffers().statistics();
      if (settings.useBuffers() && flat.numel() > 0) {
        running = AveragedSlice.of(new Range(0, flat.numel()), new Tensor(flat));
      }
    }
  }

  @Override
  public void plannedUpdates(long updates) {
    if (settings.first() > updates) {
      notices.accept(
          ("ema averages first after update %,d, but the run ends after %,d: it stays what the"
                  + " weights are (lower ema.start or ema.every)")
              .formatted(settings.first(), updates));
      return;
    }
    long all = 1 + (updates - settings.first()) / settings.every();
    long lookedBack = Math.round(1 / (1 - settings.decay()));
    if (!settings.warmup() && all < lookedBack) {
      notices.accept(
          ("ema with decay %s looks back over about %,d averagings, but the run makes %,d: the"
                  + " first weights make up most of it (lower ema.decay or set ema.warmup: true)")
              .formatted(settings.decay(), lookedBack, all));
    }
  }

  @Override
  public void afterUpdate(long updates) {
    if (settings.isDueAfter(updates)) {
      arrive();
      double decay = settings.decayAt(averagings);
      each(slice -> slice.add(decay));
      averagings++;
    }
  }

  /** Weights beside the device may still be on their way there. */
  private void arrive() {
    boolean isBeside = parameters.stream().anyMatch(it -> !it.live().is_cuda());
    if (isBeside && model.device().isCuda()) {
      model.device().synchronize();
    }
  }

  private void each(Consumer<AveragedSlice> action) {
    parameters.forEach(action);
    if (running != null) {
      action.accept(running);
    }
  }

  private void swap() {
    arrive();
    each(AveragedSlice::swap);
  }

  @Override
  public boolean hasBegun() {
    return averagings > 0;
  }

  @Override
  public <T> T whileInPlace(Supplier<T> action) {
    return hasBegun() ? sync().whileReplaced(this::swap, action) : action.get();
  }

  private Sync sync() {
    return Objects.requireNonNull(sync);
  }

  private RunningStatistics statistics() {
    return Objects.requireNonNull(statistics);
  }

  @Override
  public void remember(RunState state) {
    var shared = state.shared().part("ema");
    if (!shared.has("averagings")) {
      averagings = 0;
      notices.accept("the checkpoint holds no ema: it starts anew from the weights");
      return;
    }
    averagings = shared.number("averagings", averagings);
    if (!hasBegun()) {
      return;
    }
    if (state.isSaving()) {
      rememberOwn(state.own().part("ema"));
      publish(state.movingAverage());
    } else {
      takeUp(state.movingAverage());
      rememberOwn(state.own().part("ema"));
    }
  }

  /** What ranks have each of their own is published as their mean. */
  private void rememberOwn(State own) {
    if (sync().letsRanksDiffer()) {
      parameters.forEach(slice -> rememberOwn(own, slice));
    }
    if (running != null && !isAlone) {
      own.tensor("statistics", running.average());
    }
  }

  private void rememberOwn(State own, AveragedSlice slice) {
    if (slice.range().length() == arena.layout().length()) {
      own.tensor("parameters", slice.average());
    } else {
      own.slice("parameters", slice.range().offset(), slice.average());
    }
  }

  private void publish(State weights) {
    long _ =
        whileInPlace(
            () -> {
              model.publish(weights);
              statistics().publish(weights);
              return averagings;
            });
  }

  /** Every rank reads all of it, parameter by parameter, and keeps what it updates. */
  private void takeUp(State weights) {
    for (var slot : arena.layout().slots()) {
      try (var _ = TensorScope.open()) {
        var values = arena.empty(slot.length());
        weights.tensor(slot.spec().name(), values.view(slot.spec().shape().toArray()));
        parameters.forEach(slice -> slice.take(slot.range(), values));
      }
    }
    try (var _ = TensorScope.open()) {
      model.frozen().forEach((name, tensor) -> weights.tensor(name, tensor.clone()));
    }
    try (var now = model.buffers().copy()) {
      model.buffers().buffers().forEach(weights::tensor);
      if (running != null) {
        running.average().copy_(running.live());
      }
      now.putBack();
    }
  }

  @Override
  public void close() {
    each(AveragedSlice::close);
  }
}
