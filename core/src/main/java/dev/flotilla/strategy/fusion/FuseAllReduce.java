package dev.flotilla.strategy.fusion;

import dev.flotilla.arena.Bucket;
import dev.flotilla.arena.Layout;
import dev.flotilla.exchange.BucketPlan;
import dev.flotilla.memory.Precision;
import dev.flotilla.settings.Check;
import dev.flotilla.settings.Remedy;
import dev.flotilla.settings.Setting;
import dev.flotilla.step.Claim;
import dev.flotilla.step.Claim.ExchangePart;
import dev.flotilla.step.Phase;
import dev.flotilla.step.StepContext;
import dev.flotilla.step.Workers;
import dev.flotilla.strategy.PlanFacts;
import dev.flotilla.strategy.PlanIssue;
import dev.flotilla.strategy.Property;
import dev.flotilla.strategy.Strategy;
import dev.flotilla.wire.Dtype;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Reduces gradients in a few buckets, each as soon as backward has filled it.
 *
 * <p>Buckets are slices of the gradient arena in the order of backward, so nothing is copied. With
 * rᵢ the time at which bucket i is full and a + c Sᵢ the time of its all-reduce, it arrives at eᵢ =
 * max(eᵢ₋₁, rᵢ) + a + c Sᵢ, and the step takes max(forward + backward, e of the last) + update.
 *
 * @param sizeMb a bucket is closed once it holds so many megabytes
 * @param maxTensors a bucket holds at most so many tensors; 1 for a bucket per tensor
 * @param lastMb size of the last bucket, which no backward is left to hide
 * @param overlap whether buckets are reduced while backward goes on
 * @param plan how buckets are cut
 * @param wire the number type on the wire
 */
@Remedy.Offer(value = Remedy.HALF_PRECISION_SUMS, as = "%s: {wire: bf16}")
@Remedy.Offer(value = Remedy.NO_OVERLAP, as = "%s.overlap to false")
public record FuseAllReduce(
    @Setting(doc = "size at which a bucket is closed, in megabytes (2^20 bytes)") double sizeMb,
    @Setting(doc = "most tensors in a bucket; 1 for a bucket per tensor") int maxTensors,
    @Setting(doc = "largest size of the last bucket, which backward cannot hide, in megabytes")
        double lastMb,
    @Setting(doc = "reduce buckets while backward goes on") boolean overlap,
    @Setting(doc = "how buckets are cut: by size, or by measured times (mg_wfbp)") BucketRule plan,
    @Setting(
            doc = "number format on the wire: fp32, bf16 or fp16; sums are float32",
            words = {"fp32", "bf16", "fp16"})
        Dtype wire)
    implements Strategy {

  private static final double MEGABYTE = 1 << 20;

  /** Checks the settings. */
  public FuseAllReduce {
    Check.that(sizeMb > 0 && Double.isFinite(sizeMb), "size_mb", "must be greater than 0", sizeMb)
        .and(maxTensors >= 1, "max_tensors", "must be at least 1", maxTensors)
        .and(lastMb >= 0 && Double.isFinite(lastMb), "last_mb", "must be at least 0", lastMb)
        .and(
            overlap || plan == BucketRule.SIZE,
            "plan",
            "must be size without overlap, as mg_wfbp cuts for it",
            "mg_wfbp")
        .and(wire == Dtype.FP32 || wire.isHalf(), "wire", "must be fp32, bf16 or fp16", wire.word())
        .orThrow();
  }

  /** Takes Fleet's sizes, with overlap. */
  public FuseAllReduce() {
    this(32, 50, 1, true, BucketRule.SIZE, Dtype.FP32);
  }

  /** Returns the same with another type on the wire. */
  public FuseAllReduce on(Dtype other) {
    return new FuseAllReduce(sizeMb, maxTensors, lastMb, overlap, plan, other);
  }

  /** Returns the same with buckets of another size. */
  public FuseAllReduce sized(double megabytes) {
    double last = Math.min(lastMb, megabytes);
    return new FuseAllReduce(megabytes, maxTensors, last, overlap, plan, wire);
  }

  @Override
  public String key() {
    return "fuse_all_reduce";
  }

  @Override
  public List<Claim> claims() {
    List<Claim> claims = new ArrayList<>();
    claims.add(new Claim(Phase.BUCKETS, description()));
    if (wire.isHalf()) {
      claims.add(
          new Claim(
              ExchangePart.NUMBERS, "%s on the wire, sums in float32".formatted(wire.word())));
    }
    return claims;
  }

  @Override
  public Workers workers(StepContext context) {
    var workers = new Workers().buckets(start(context));
    return wire.isHalf() ? workers.wire(wire) : workers;
  }

  @Override
  public Map<Property, String> contradicts() {
    return Map.of(Property.LETS_RANKS_DIFFER, "it plans for gradients that all ranks exchange");
  }

  private String description() {
    String cut =
        plan == BucketRule.MG_WFBP
            ? "buckets by measured times"
            : "buckets of %s MB, the last of %s".formatted(shown(sizeMb), shown(lastMb));
    return cut + (overlap ? ", while backward goes on" : ", after backward");
  }

  private static String shown(double number) {
    return number == Math.rint(number) ? "" + (long) number : "" + number;
  }

  private BucketPlan start(StepContext context) {
    var layout = context.arena().layout();
    var buckets = buckets(layout);
    return plan == BucketRule.MG_WFBP
        ? new MergedPlan(buckets, context)
        : new SizePlan(buckets, overlap);
  }

  static String announcement(int gradients, int buckets, String collectives) {
    return "fuse_all_reduce: %d gradients are reduced by %d %s"
        .formatted(gradients, buckets, collectives);
  }

  /** Returns the buckets by size, in the order in which they are reduced. */
  public List<Bucket> buckets(Layout layout) {
    return Bucket.of(
        layout, new SizeCut(sizeMb * MEGABYTE, maxTensors, lastMb * MEGABYTE).ranges(layout));
  }

  @Override
  public List<PlanIssue> issues(PlanFacts facts) {
    List<PlanIssue> issues = new ArrayList<>();
    if (wire.isHalf() && facts.layout().precision() == Precision.FLOAT64) {
      issues.add(
          PlanIssue.error(
              "fuse_all_reduce.wire rounds to 16 bits, but precision is float64",
              "set wire: fp32, or precision: float32"));
    }
    if (facts.ranks() == 1) {
      issues.add(PlanIssue.warning("fuse_all_reduce has no effect on one rank", "remove it"));
    }
    return issues;
  }
}
