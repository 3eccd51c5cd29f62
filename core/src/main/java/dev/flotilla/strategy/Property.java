package dev.flotilla.strategy;

/**
 * What the planner, and other techniques, must know of a technique. No technique decides by
 * another's name.
 */
public enum Property {
  /**
   * What a rank does not send stays with it, so gradients are judged and limited before they are
   * exchanged.
   */
  KEEPS_RESIDUALS("each rank keeps what it does not send"),
  /**
   * Its filters only judge gradients or scale them as a whole, so that they may come before an
   * exchange that keeps residuals.
   */
  ONLY_SCALES_GRADIENTS("gradients are scaled as a whole"),
  /**
   * What it does before the exchange it can do to each micro-step alone, and drops no window there.
   */
  CONDITIONS_MICRO_STEPS("each micro-step is conditioned on its own"),
  /** Ranks hold parameters of their own at times. */
  LETS_RANKS_DIFFER("ranks update on their own between averages"),
  /** Forward runs in bf16 what is safe there, whatever the type of parameters. */
  COMPUTES_IN_BF16("forward computes in bf16"),
  /** Each rank keeps slices of parameters, gradients or the optimizer's memory. */
  SHARDS_STATE("each rank keeps slices of what all ranks would hold alike"),
  /** BatchNorm's statistics are taken over several micro-batches or ranks, by collectives. */
  POOLS_STATISTICS("statistics of batches are exchanged in forward and backward"),
  /** What forward computes is thrown away and computed again in backward. */
  RECOMPUTES_FORWARD("parts of forward are recomputed in backward");

  private final String words;

  Property(String words) {
    this.words = words;
  }

  /** Returns what it means, as half of a sentence. */
  String words() {
    return words;
  }
}
