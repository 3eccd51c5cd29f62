package dev.flotilla.step;

/** The phases of a step, in their order. */
public enum Phase {
  /** Forward and backward of one micro-batch. */
  FORWARD(false, "plain"),
  /** How many micro-steps make a window. */
  ACCUMULATION(true, "a window of one micro-step"),
  /** What happens to gradients before the exchange. */
  CONDITION(false, "nothing"),
  /** How gradients are cut into buckets. */
  BUCKETS(true, "one bucket per arena"),
  /** How ranks reduce gradients. */
  EXCHANGE(true, "dense mean"),
  /** What happens to gradients after the exchange. */
  REFINE(false, "all numbers finite, or no update"),
  /** How parameters are updated. */
  UPDATE(true, "full optimizer"),
  /** What ranks do together after the update. */
  SYNC(true, "nothing"),
  /** What follows the parameters from update to update. */
  AVERAGE(true, "nothing");

  private final boolean hasOneOwner;
  private final String byDefault;

  Phase(boolean hasOneOwner, String byDefault) {
    this.hasOneOwner = hasOneOwner;
    this.byDefault = byDefault;
  }

  /** Tells whether only one technique may claim this phase. */
  public boolean hasOneOwner() {
    return hasOneOwner;
  }

  /** Returns what happens when nobody claims this phase. */
  public String byDefault() {
    return byDefault;
  }
}
