package dev.flotilla.strategy.localsgd;

import dev.flotilla.arena.Bucket;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.pass.BoundModel;
import dev.flotilla.state.RunState;
import dev.flotilla.step.Update;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.bytedeco.pytorch.Tensor;

/**
 * Everything of a rank that is averaged, as if it were one flat tensor: the parameters that it
 * updates, running statistics, and the optimizer's memory where that is wanted. Counters are not
 * averaged.
 */
final class LiveValues implements AutoCloseable {

  private final BoundModel model;
  private final List<Slice> slices = new ArrayList<>();
  private final Tensor statistics;
  private final Update update;
  private final MomentumPolicy policy;
  private final long count;
  private final long length;

  /**
   * Parameters that lie together.
   *
   * @param place where they lie in the arena
   * @param at where they lie in the flat tensor
   */
  private record Slice(Bucket.Range place, Tensor live, long at) {}

  /**
   * A part of the parameters.
   *
   * @param live their memory; a view
   * @param range where they lie in the flat tensor
   */
  record Part(Tensor live, Range range) {}

  /**
   * Takes the values of a rank.
   *
   * @param updated the parts of the arena that it updates
   */
  LiveValues(BoundModel model, List<Bucket.Range> updated, Update update, MomentumPolicy policy) {
    this.model = model;
    this.statistics = model.buffers().statistics();
    this.update = update;
    this.policy = policy;
    long at = 0;
    for (var place : updated) {
      try (var _ = TensorScope.open()) {
        var live = TensorScope.keep(model.arena().updatedValues(place));
        slices.add(new Slice(place, live, at));
      }
      at += place.length();
    }
    this.count = at;
    this.length = memoryOffset() + memoryLength();
  }

  private long memoryOffset() {
    return count + statistics.numel();
  }

  private long memoryLength() {
    var elements = new AtomicLong();
    if (policy == MomentumPolicy.AVERAGE) {
      update.remember(
          OptimizerMemory.read(live -> elements.addAndGet(live.dim() == 0 ? 0 : live.numel())));
    }
    return elements.get();
  }

  /** Returns the number of parameters. */
  long count() {
    return count;
  }

  long length() {
    return length;
  }

  /** Returns the pieces in which the values come and go, in order. */
  List<Range> ranges() {
    return Range.of(count, length, slices.stream().anyMatch(it -> it.live().is_cuda()));
  }

  /** Returns all parameters, as they lie. */
  List<Tensor> parameters() {
    return slices.stream().map(Slice::live).toList();
  }

  /** Returns memory like that of the parameters, in the current scope. */
  Tensor zeros(long elements) {
    return slices.isEmpty()
        ? model.arena().empty(elements).zero_()
        : slices.getFirst().live().new_zeros(elements);
  }

  /** Returns the parameters of a piece, in the current scope. */
  List<Part> in(Range range) {
    arrive();
    List<Part> parts = new ArrayList<>();
    for (var slice : slices) {
      long from = Math.max(range.from(), slice.at());
      long end = Math.min(range.from() + range.length(), slice.at() + slice.place().length());
      if (from < end) {
        var part = new Range(from, end - from, true);
        parts.add(new Part(slice.live().narrow(0, from - slice.at(), part.length()), part));
      }
    }
    return parts;
  }

  /** Slices beside the device may still be on their way there. */
  private void arrive() {
    boolean isBeside = slices.stream().anyMatch(it -> !it.live().is_cuda());
    if (isBeside && model.device().isCuda()) {
      model.device().synchronize();
    }
  }

  /** Copies some values into their places of a flat tensor. */
  void read(Range range, Tensor flat) {
    try (var _ = TensorScope.open()) {
      if (range.isOfParameters()) {
        in(range).forEach(part -> part.range().of(flat).copy_(part.live()));
        return;
      }
      statisticsOf(flat).copy_(statistics);
      if (policy == MomentumPolicy.AVERAGE) {
        var walk = new OptimizerMemory.Walk(flat, memoryOffset());
        update.remember(OptimizerMemory.read(walk::store));
      }
    }
  }

  /** Returns the place of the running statistics in a flat tensor, in the current scope. */
  Tensor statisticsOf(Tensor flat) {
    return flat.narrow(0, count, statistics.numel());
  }

  /** Replaces some values by those of a flat tensor. */
  void write(Range range, Tensor flat) {
    try (var _ = TensorScope.open()) {
      if (range.isOfParameters()) {
        in(range).forEach(part -> part.live().copy_(part.range().of(flat)));
        return;
      }
      statistics.copy_(statisticsOf(flat));
      switch (policy) {
        case LOCAL -> {}
        case AVERAGE -> {
          var walk = new OptimizerMemory.Walk(flat, memoryOffset());
          update.remember(OptimizerMemory.change(walk::fetch));
        }
        case RESET -> update.remember(OptimizerMemory.change(Tensor::zero_));
      }
    }
  }

  /**
   * Puts down, or takes up, numbers that belong to the parameters, of which other ranks of this
   * replica have the others.
   *
   * @param isFirst whether this replica is the one of several that puts them down
   */
  void remember(String name, Tensor flat, RunState state, boolean isFirst) {
    var slicedState = isFirst ? state.sliced() : state.slicedElsewhere();
    try (var _ = TensorScope.open()) {
      // Says that the whole is known, also where no slice of it falls to this rank.
      slicedState.slice(name, 0, flat.narrow(0, 0, 0));
      for (var slice : slices) {
        var part = flat.narrow(0, slice.at(), slice.place().length());
        slicedState.slice(name, slice.place().offset(), part);
      }
    }
  }

  @Override
  public void close() {
    slices.forEach(slice -> TensorScope.free(slice.live()));
  }
}
