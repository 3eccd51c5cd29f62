package dev.flotilla.strategy.compress;

import dev.flotilla.arena.Bucket;
import dev.flotilla.arena.ParameterArena;
import dev.flotilla.collective.Collective;
import dev.flotilla.optim.Momentum;
import dev.flotilla.optim.Optimizer;
import dev.flotilla.state.RunState;
import dev.flotilla.step.StepContext;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The state that exchange and update of a compressed run share: which phase it is in, what the rank
 * keeps, and the messages of the window.
 */
final class Compression implements AutoCloseable {

  private static final long NEVER = -1;

  private final Dgc settings;
  private final Ramp ramp;
  private final ParameterArena arena;
  private final Collective collective;
  private final Residuals residuals;
  private final SideBuffer side;
  private final OrdinaryUpdate updateOfAll;
  private final OrdinaryUpdate updateOfSmall;
  private final BucketFactory factory;
  private final Rule rule;
  private final CompressionRecord record = new CompressionRecord();
  private final Map<Bucket.Range, BucketCompressor> buckets = new LinkedHashMap<>();
  private final List<BucketCompressor> window = new ArrayList<>();
  private final Map<Bucket.Range, Integer> savedThresholds = new LinkedHashMap<>();
  private long updates;
  private long begun;
  private boolean isWindowSparse;

  Compression(Dgc settings, StepContext context, boolean masksMomentum) {
    this.settings = settings;
    this.ramp = settings.ramp();
    this.arena = context.arena();
    this.collective = context.collective();
    var update = context.updateSettings();
    rule = ruleOf(update.optimizer(), masksMomentum);
    var division =
        Division.of(arena.layout(), settings.minNumel(), slot -> update.decayOf(slot.spec()));
    residuals = new Residuals(arena, division);
    side = new SideBuffer(arena.gradients(), division.dense(), collective);
    var all = Division.everything(arena.layout(), slot -> update.decayOf(slot.spec()));
    var velocity = residuals.velocity();
    updateOfAll = new OrdinaryUpdate(update.optimizer(), arena, velocity, all);
    updateOfSmall = new OrdinaryUpdate(update.optimizer(), arena, velocity, division.dense());
    factory = new BucketFactory(settings, rule, arena, residuals, division, collective.size());
  }

  private static Rule ruleOf(Optimizer optimizer, boolean masksMomentum) {
    return optimizer instanceof Momentum momentum
        ? new Rule(momentum.momentum(), momentum.nesterov(), masksMomentum)
        : new Rule(0, false, masksMomentum);
  }

  Collective collective() {
    return collective;
  }

  Dgc settings() {
    return settings;
  }

  /** Returns the elements of the arena, gaps included. */
  long length() {
    return arena.layout().length();
  }

  Rule rule() {
    return rule;
  }

  /** Returns what updates send once the ramp has ended. */
  LinkCost cost() {
    return LinkCost.of(arena.layout(), settings, ramp.last(), collective.size());
  }

  CompressionRecord record() {
    return record;
  }

  SideBuffer side() {
    return side;
  }

  /** Tells whether the window to come is compressed. */
  boolean isSparse() {
    return collective.size() > 1 && begun >= 0 && !ramp.isDense(updates - begun);
  }

  /** Begins the ramp with the window after this one. */
  void begin() {
    begun = updates + 1;
  }

  /** Goes back to the dense exchange, until the ramp begins anew. */
  void leave() {
    begun = NEVER;
  }

  /** Begins a window, whose kind stays the same to its end whatever is decided meanwhile. */
  void beginWindow() {
    isWindowSparse = isSparse();
  }

  boolean isWindowSparse() {
    return isWindowSparse;
  }

  /** Begins to compress. */
  void beginMessages() {
    window.clear();
    if (!residuals.isSplit()) {
      residuals.split(collective.size());
    }
  }

  /** Returns the compressor of a bucket, ready for this window. */
  BucketCompressor inWindow(Bucket bucket) {
    var compressor = buckets.computeIfAbsent(bucket.range(), this::newBucket);
    compressor.sparsity(ramp.sparsityAt(updates - begun));
    if (compressor.elements() > 0) {
      window.add(compressor);
    }
    return compressor;
  }

  private BucketCompressor newBucket(Bucket.Range bucket) {
    var compressor = factory.of(bucket);
    compressor.threshold(savedThresholds.getOrDefault(bucket, Selector.NO_THRESHOLD));
    return compressor;
  }

  List<BucketCompressor> window() {
    return window;
  }

  /** Moves the parameters as the phase asks. */
  void update(double lr) {
    if (isWindowSparse) {
      long start = System.nanoTime();
      window.forEach(bucket -> bucket.apply(lr));
      updateOfSmall.update(lr);
      record.applied(System.nanoTime() - start);
      count();
    } else {
      if (residuals.isSplit()) {
        residuals.join(arena, collective, lr);
      }
      updateOfAll.update(lr);
    }
    updates++;
  }

  private void count() {
    long received = window.stream().mapToLong(BucketCompressor::received).sum();
    long elements = window.stream().mapToLong(BucketCompressor::elements).sum();
    long words = window.stream().mapToLong(bucket -> bucket.message().numel()).sum();
    int ranks = collective.size();
    long all = arena.layout().slots().stream().mapToLong(slot -> slot.length()).sum();
    var cost =
        new LinkCost(
            ranks,
            elements * Float.BYTES,
            Math.max(0, all - elements) * Float.BYTES,
            words * Integer.BYTES);
    record.add(received, elements * ranks, cost.denseBytes(), cost.sparseBytes());
  }

  void remember(RunState state) {
    var shared = state.shared().part("dgc");
    updates = shared.number("updates", updates);
    begun = shared.number("begun", begun);
    residuals.remember(state);
    record.remember(state);
    rememberThresholds(state);
  }

  /** Only a first guess, but with a sampled threshold the choice may depend on it. */
  private void rememberThresholds(RunState state) {
    buckets.forEach((bucket, it) -> savedThresholds.put(bucket, it.threshold()));
    var text = new StringBuilder();
    savedThresholds.forEach(
        (bucket, threshold) ->
            text.append("%d %d %d;".formatted(bucket.offset(), bucket.length(), threshold)));
    String saved = state.own().text("dgc/thresholds", text.toString());
    savedThresholds.clear();
    saved.lines().flatMap(line -> List.of(line.split(";", -1)).stream()).forEach(this::takeUp);
    buckets.forEach(
        (bucket, it) -> it.threshold(savedThresholds.getOrDefault(bucket, Selector.NO_THRESHOLD)));
  }

  private void takeUp(String line) {
    if (!line.isEmpty()) {
      var numbers = line.split(" ", -1);
      var bucket = new Bucket.Range(Long.parseLong(numbers[0]), Long.parseLong(numbers[1]));
      savedThresholds.put(bucket, Integer.valueOf(numbers[2]));
    }
  }

  Map<String, Object> metrics() {
    Map<String, Object> metrics = record.metrics();
    if (residuals.isSplit()) {
      metrics.put("residual_norm", residuals.norm());
    }
    return Map.of(settings.key(), metrics);
  }

  @Override
  public void close() {
    buckets.values().forEach(BucketCompressor::close);
    updateOfSmall.close();
    updateOfAll.close();
    side.close();
    residuals.close();
  }
}
