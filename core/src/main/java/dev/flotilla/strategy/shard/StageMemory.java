package dev.flotilla.strategy.shard;

import dev.flotilla.arena.Layout;
import dev.flotilla.arena.Slot;
import dev.flotilla.exchange.BucketPlan;
import dev.flotilla.model.Model;
import dev.flotilla.wire.Dtype;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.IntSummaryStatistics;
import java.util.List;
import java.util.stream.IntStream;

/**
 * What a stage takes of a rank's memory, and of the wire, by formula; activations apart.
 *
 * @param stage what is sharded; 0 for nothing
 * @param parameters bytes of trainable parameters that a rank keeps, with the float32 slices of
 *     16-bit ones
 * @param gradients bytes of gradients that it keeps
 * @param optimizer bytes that the optimizer remembers
 * @param passing bytes that a step takes for a while at most: buckets under way, and what is whole
 *     of gradients and parameters where slices of them are kept
 * @param wire what a rank sends for an update, as a multiple of what it sends in float32 without
 *     sharding, by the number k of its micro-steps
 */
public record StageMemory(
    int stage, long parameters, long gradients, long optimizer, long passing, String wire) {

  /** The last stage that settings may ask for. */
  static final int LAST = 3;

  /**
   * Returns the memory of the rank that keeps most, without sharding and with each stage.
   *
   * @param layout the trainable parameters
   * @param numbersPerParameter what the optimizer remembers
   * @param gradients their type on the wire
   * @param parameters their type where they are sharded
   */
  public static List<StageMemory> ofAll(
      Model model,
      Layout layout,
      int numbersPerParameter,
      int ranks,
      Dtype gradients,
      Dtype parameters) {
    List<StageMemory> all = new ArrayList<>();
    for (int stage = 0; stage <= LAST; stage++) {
      all.add(of(stage, model, layout, numbersPerParameter, ranks, gradients, parameters));
    }
    return all;
  }

  static StageMemory of(
      int stage,
      Model model,
      Layout layout,
      int numbersPerParameter,
      int ranks,
      Dtype gradients,
      Dtype parameters) {
    var slicing = Slicing.of(model, layout, ranks);
    long whole = layout.bytes();
    long slices = slicing.most() * layout.precision().bytes();
    boolean isHalf = stage > 0 && parameters.isHalf();
    int width = isHalf ? Short.BYTES : layout.precision().bytes();
    long copies = stage < 3 ? layout.length() * width : 0;
    return new StageMemory(
        stage,
        copies + (isHalf || stage == 3 ? slices : 0),
        stage < 2 ? whole : slices,
        numbersPerParameter * (stage < 1 ? whole : slices),
        ranks == 1 && !isHalf ? 0 : passing(stage, model, layout, slicing, width),
        sent(stage, gradients, isHalf));
  }

  /** Parameters are gathered in float32 whatever gradients are, unless they are 16-bit copies. */
  private static String sent(int stage, Dtype gradients, boolean isHalf) {
    var all =
        isHalf
            ? List.of("1", "1 / 2", "(k + 1) / 4", "3 k / 4")
            : gradients.isHalf()
                ? List.of("1 / 2", "3 / 4", "(k + 2) / 4", "5 k / 4")
                : List.of("1", "1", "(k + 1) / 2", "3 k / 2");
    return all.get(stage);
  }

  /** Buckets have the layout's type; what is whole of gradients and parameters may have less. */
  private static long passing(int stage, Model model, Layout layout, Slicing slicing, int width) {
    if (stage == 0) {
      return 0;
    }
    long buckets = slicing.ranks() == 1 ? 0 : underWay(stage, layout, slicing);
    long gradients = stage == 1 ? 0 : wholeGradients(model, layout);
    long parameters = stage == 3 ? wholeParameters(model, layout) : 0;
    return buckets * layout.precision().bytes() + (gradients + parameters) * width;
  }

  /**
   * Two buckets are under way, each with what it receives; small units are packed besides. Where
   * there is no arena it is two chunks of buckets, and all of them are packed.
   */
  private static long underWay(int stage, Layout layout, Slicing slicing) {
    long most = 0;
    long before = 0;
    for (var bucket : slicing.buckets(layout, BucketPlan.whole(layout).buckets())) {
      long length = bucket.range().length();
      if (stage > 1) {
        most = Math.max(most, 4 * Math.ceilDiv(length, Slicing.chunks(length)));
        continue;
      }
      boolean isPacked = slicing.in(bucket.range()).size() > 1;
      long taken = length * (isPacked ? 2 : 1);
      most = Math.max(most, before + taken);
      before = taken;
    }
    return most;
  }

  /**
   * Returns the most gradients that are whole at once while backward goes through segments: a
   * segment's, and those of parameters before it that a later segment shares.
   */
  private static long wholeGradients(Model model, Layout layout) {
    var live = new long[model.segments().size()];
    for (var slot : layout.slots()) {
      var uses = uses(model, slot);
      for (int i = uses.getMin(); i <= uses.getMax(); i++) {
        live[i] += slot.length();
      }
    }
    return Arrays.stream(live).max().orElse(0);
  }

  /**
   * Returns the most parameters that are gathered at once: a segment's, the next one's, and all of
   * a segment that has some which a later one shares.
   */
  private static long wholeParameters(Model model, Layout layout) {
    var segments = model.segments().size();
    var length = new long[segments];
    var last = new int[segments];
    for (var slot : layout.slots()) {
      var uses = uses(model, slot);
      length[uses.getMin()] += slot.length();
      last[uses.getMin()] = Math.max(last[uses.getMin()], uses.getMax());
    }
    var live = new long[segments];
    for (int first = 0; first < segments; first++) {
      for (int i = first; i <= Math.min(last[first] + 1, segments - 1); i++) {
        live[i] += length[first];
      }
    }
    return Arrays.stream(live).max().orElse(0);
  }

  /** Returns the first and the last segment that use a parameter. */
  private static IntSummaryStatistics uses(Model model, Slot slot) {
    return IntStream.range(0, model.segments().size())
        .filter(i -> model.segments().get(i).parameters().contains(slot.spec()))
        .summaryStatistics();
  }

  /** Returns the bytes of all. */
  public long total() {
    return parameters + gradients + optimizer + passing;
  }
}
