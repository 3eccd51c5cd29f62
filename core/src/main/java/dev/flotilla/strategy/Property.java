package dev.flotilla.strategy;

import dev.flotilla.settings.Remedy;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

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
  /** Ranks do so each by itself, and not those of a host together. */
  LETS_EACH_RANK_DIFFER("each rank updates on its own between averages", Remedy.SAME_ON_HOST),
  /** Forward runs in bf16 what is safe there, whatever the type of parameters. */
  COMPUTES_IN_BF16("forward computes in bf16"),
  /** Each rank keeps slices of parameters, gradients or the optimizer's memory. */
  SHARDS_STATE("each rank keeps slices of what all ranks would hold alike"),
  /** BatchNorm's statistics are taken over several micro-batches or ranks, by collectives. */
  POOLS_STATISTICS("statistics of batches are exchanged in forward and backward"),
  /** What forward computes is thrown away and computed again in backward. */
  RECOMPUTES_FORWARD("parts of forward are recomputed in backward");

  private final String words;
  private final @Nullable Remedy remedy;

  Property(String words) {
    this(words, null);
  }

  Property(String words, @Nullable Remedy remedy) {
    this.words = words;
    this.remedy = remedy;
  }

  /** Returns what to do about it other than leave its technique out, if there is something. */
  Optional<Remedy> remedy() {
    return Optional.ofNullable(remedy);
  }

  /** Returns what it means, as half of a sentence. */
  String words() {
    return words;
  }
}
