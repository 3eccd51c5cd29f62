package dev.flotilla.step;

import dev.flotilla.step.Claim.ExchangePart;
import dev.flotilla.step.Claim.ForwardStage;
import dev.flotilla.step.Claim.GradientStage;
import dev.flotilla.step.Claim.SyncPart;

/**
 * A technique's request to work in a phase: plain data, which a plan may ask for any number of
 * times.
 *
 * <p>A claim says in {@link #does} what will happen there, for the printed plan. In phases with
 * several workers a stage fixes their order, so that the order in which techniques are listed never
 * matters.
 *
 * @param phase the claimed phase
 * @param order the place among several workers of the phase
 * @param does what the worker does, in a few words
 */
public record Claim(Phase phase, int order, String does) {

  /** Makes a claim on a phase in which order does not matter. */
  public Claim(Phase phase, String does) {
    this(phase, 0, does);
  }

  /** Makes a claim on a layer around forward and backward. */
  public Claim(ForwardStage stage, String does) {
    this(Phase.FORWARD, stage.ordinal(), does);
  }

  /** Makes a claim on a filter before or after the exchange. */
  public Claim(Phase phase, GradientStage stage, String does) {
    this(phase, stage.ordinal(), does);
  }

  /** Makes a claim on a part of the exchange; {@link Phase#EXCHANGE} alone claims all of it. */
  public Claim(ExchangePart part, String does) {
    this(Phase.EXCHANGE, part.ordinal(), does);
  }

  /** Makes a claim on a part of what follows the update; {@link Phase#SYNC} alone claims all. */
  public Claim(SyncPart part, String does) {
    this(Phase.SYNC, part.ordinal(), does);
  }

  /** Tells whether it leaves no room for another technique's claim. */
  public boolean conflictsWith(Claim other) {
    return phase == other.phase
        && phase.hasOneOwner()
        && (order == other.order
            || order == ExchangePart.ALL.ordinal()
            || other.order == ExchangePart.ALL.ordinal());
  }

  /** Tells whether a phase does what it does by default, and this besides. */
  boolean addsToDefault() {
    return phase == Phase.EXCHANGE && order >= ExchangePart.NUMBERS.ordinal();
  }

  /** What a claim on the exchange decides. */
  public enum ExchangePart {
    /** Everything, also what goes over the wire. */
    ALL,
    /** How ranks come to sums, in whichever numbers these go over the wire. */
    SUMS,
    /** The numbers on the wire, for whoever comes to sums. */
    NUMBERS,
    /** Which ranks exchange with each other, however they come to sums. */
    RANKS
  }

  /** What a claim on the phase after the update decides, in the order in which it happens. */
  public enum SyncPart {
    /** Everything. */
    ALL,
    /** How what a rank updates becomes the average over ranks that hold others. */
    AVERAGE,
    /** How ranks that hold the same parameters get what each of them has updated. */
    GATHER
  }

  /** Places of forward layers, outermost first. */
  public enum ForwardStage {
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
  public enum GradientStage {
    /** Undoes a loss scale. */
    UNSCALE,
    /** Decides with all ranks whether the update goes on. */
    VOTE,
    /** Limits the size. */
    CLIP
  }
}
