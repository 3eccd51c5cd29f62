package dev.flotilla.step;

import dev.flotilla.exchange.BucketPlan;
import dev.flotilla.exchange.Exchange;
import dev.flotilla.pass.Accumulation;
import dev.flotilla.pass.ForwardBackward;
import dev.flotilla.pass.Retention;
import java.util.OptionalInt;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * A technique's wish to work in a phase, with the factory of its worker.
 *
 * <p>A claim says in {@link #does} what will happen there, for the printed plan. In phases with
 * several workers a stage fixes their order, so that the order in which techniques are listed never
 * matters.
 */
public sealed interface Claim {

  /** Returns the claimed phase. */
  Phase phase();

  /** Returns what the worker does, in a few words. */
  String does();

  /** Returns the place among several workers of the phase. */
  default int order() {
    return 0;
  }

  /** Places of forward layers, outermost first. */
  enum ForwardStage {
    /** What a loss counts as. */
    WEIGHT,
    /** Number types. */
    PRECISION,
    /** What is kept for backward. */
    RECOMPUTE,
    /** Where parameters come from. */
    GATHER
  }

  /** Places of gradient filters, first to last. */
  enum GradientStage {
    /** Undoes a loss scale. */
    UNSCALE,
    /** Decides with all ranks whether the update goes on. */
    VOTE,
    /** Limits the size. */
    CLIP
  }

  /** A layer around forward and backward. */
  record Forward(
      ForwardStage stage, String does, Function<StepContext, ForwardBackward.Layer> worker)
      implements Claim {
    @Override
    public Phase phase() {
      return Phase.FORWARD;
    }

    @Override
    public int order() {
      return stage.ordinal();
    }
  }

  /** What a forward pass keeps for backward. */
  record Retain(String does, Function<StepContext, Retention> worker) implements Claim {
    @Override
    public Phase phase() {
      return Phase.FORWARD;
    }

    @Override
    public int order() {
      return ForwardStage.RECOMPUTE.ordinal();
    }
  }

  /** Batches that go forward together, so that BatchNorm sees all of them. */
  record Pool(String does, boolean isOverWindow) implements Claim {
    @Override
    public Phase phase() {
      return Phase.FORWARD;
    }

    @Override
    public int order() {
      return ForwardStage.RECOMPUTE.ordinal();
    }
  }

  /**
   * The rule that makes windows; made from the samples of a micro-step over all ranks, where known,
   * and from whoever is told what happens, so that a plan can count updates without native code.
   */
  record Accumulate(String does, BiFunction<OptionalInt, Consumer<String>, Accumulation> worker)
      implements Claim {
    @Override
    public Phase phase() {
      return Phase.ACCUMULATION;
    }
  }

  /** A filter before the exchange. */
  record Condition(GradientStage stage, String does, Function<StepContext, GradientFilter> worker)
      implements Claim {
    @Override
    public Phase phase() {
      return Phase.CONDITION;
    }

    @Override
    public int order() {
      return stage.ordinal();
    }
  }

  /** The cut into buckets. */
  record Buckets(String does, Function<StepContext, BucketPlan> worker) implements Claim {
    @Override
    public Phase phase() {
      return Phase.LAYOUT;
    }
  }

  /**
   * The exchange.
   *
   * @param keepsResiduals whether what a rank does not send stays with it; filters then come before
   *     the exchange
   */
  record Share(String does, boolean keepsResiduals, Function<StepContext, Exchange> worker)
      implements Claim {

    /** Makes a claim on an exchange that sends everything. */
    public Share(String does, Function<StepContext, Exchange> worker) {
      this(does, false, worker);
    }

    @Override
    public Phase phase() {
      return Phase.EXCHANGE;
    }
  }

  /**
   * A filter after the exchange.
   *
   * @param onlyScales whether it only judges or scales the gradients as a whole, through {@link
   *     dev.flotilla.arena.Gradients}, so that it may also come before an exchange that keeps
   *     residuals
   */
  record Refine(
      GradientStage stage,
      String does,
      boolean onlyScales,
      Function<StepContext, GradientFilter> worker)
      implements Claim {

    /** Makes a claim on a filter that may change gradients in any way. */
    public Refine(GradientStage stage, String does, Function<StepContext, GradientFilter> worker) {
      this(stage, does, false, worker);
    }

    @Override
    public Phase phase() {
      return Phase.REFINE;
    }

    @Override
    public int order() {
      return stage.ordinal();
    }
  }

  /** The update. */
  record Apply(String does, Function<StepContext, Update> worker) implements Claim {
    @Override
    public Phase phase() {
      return Phase.UPDATE;
    }
  }

  /** What follows the update. */
  record Follow(String does, Function<StepContext, Sync> worker) implements Claim {
    @Override
    public Phase phase() {
      return Phase.SYNC;
    }
  }
}
