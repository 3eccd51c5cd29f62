package dev.flotilla.strategy.shard;

import dev.flotilla.arena.Layout;
import dev.flotilla.arena.Slot;
import dev.flotilla.exchange.BucketPlan;
import dev.flotilla.model.Model;
import dev.flotilla.wire.Dtype;
import java.util.ArrayList;
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
 * @param passing bytes that a step takes for a while at most: the gradient that backward computes
 *     before it is added to what is there, buckets under way, and what is whole of gradients and
 *     parameters where slices of them are kept
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
        passing(ranks == 1 && !isHalf ? 0 : stage, model, layout, slicing, width),
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
    long buckets = stage == 0 || slicing.ranks() == 1 ? 0 : underWay(stage, layout, slicing);
    var computed = computedGradients(stage, model, layout);
    var gradients = wholeGradients(model, layout);
    var parameters = wholeParameters(model, layout);
    long whole =
        IntStream.range(0, computed.length)
            .mapToLong(
                i -> computed[i] + (stage < 2 ? 0 : gradients[i]) + (stage < 3 ? 0 : parameters[i]))
            .max()
            .orElse(0);
    return buckets * layout.precision().bytes() + whole * width;
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
   * Returns the largest gradient that each segment's backward computes beside the one that it is
   * added to: where gradients leave, only one that a later segment has computed a part of.
   */
  private static long[] computedGradients(int stage, Model model, Layout layout) {
    var most = new long[model.segments().size()];
    for (var slot : layout.slots()) {
      int last = uses(model, slot).getMax();
      for (int i = 0; i <= last; i++) {
        boolean isUsed = model.segments().get(i).parameters().contains(slot.spec());
        if (isUsed && (stage < 2 || i < last)) {
          most[i] = Math.max(most[i], slot.length());
        }
      }
    }
    return most;
  }

  /**
   * Returns how many gradients are whole while backward goes through each segment: the segment's,
   * those of the segment behind it, which are leaving, and those of parameters before it that a
   * later segment shares.
   */
  private static long[] wholeGradients(Model model, Layout layout) {
    var live = new long[model.segments().size()];
    for (var slot : layout.slots()) {
      var uses = uses(model, slot);
      for (int i = Math.max(0, uses.getMin() - 1); i <= uses.getMax(); i++) {
        live[i] += slot.length();
      }
    }
    return live;
  }

  /**
   * Returns how many parameters are gathered while backward goes through each segment: the
   * segment's, the next one's, and all of a segment that has some which a later one shares.
   */
  private static long[] wholeParameters(Model model, Layout layout) {
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
    return live;
  }

  /** Returns the first and the last segment that use a parameter. */
  private static IntSummaryStatistics uses(Model model, Slot slot) {
    return IntStream.range(0, model.segments().size())
        .filter(i -> model.segments().get(i).parameters().contains(slot.spec()))
        .summaryStatistics();
  }

  /** Returns the bytes that are there between steps too. */
  public long kept() {
    return parameters + gradients + optimizer;
  }

  /** Returns the bytes of all. */
  public long total() {
    return kept() + passing;
  }
}
