package dev.flotilla.optim;

import dev.flotilla.state.State;
import java.util.List;
import java.util.OptionalInt;
import org.bytedeco.pytorch.Tensor;
import org.jspecify.annotations.Nullable;

/**
 * The settings of an update rule.
 *
 * <p>Implement it to bring a rule of your own: it sees parameters and gradients as slices of flat
 * tensors, one list per parameter group.
 */
public interface Optimizer {

  /** Returns the learning rate before any schedule. */
  double lr();

  /** Returns the decay λ of weights per update; 0 for none. */
  double weightDecay();

  /** Returns how the learning rate grows with the batch. */
  default LrScaling scaleLr() {
    return LrScaling.NONE;
  }

  /** Returns the batch for which the learning rate was found, or null without scaling. */
  default @Nullable Integer baseBatch() {
    return null;
  }

  /** Tells whether biases and norms are decayed too unless a name pattern says otherwise. */
  default boolean decaysBiasesAndNorms() {
    return true;
  }

  /** Returns the numbers that the rule remembers for each parameter; empty if that is not known. */
  default OptionalInt numbersPerParameter() {
    return OptionalInt.empty();
  }

  /**
   * Tells whether the rule keeps what it remembers in the {@linkplain ParameterGroup#memory memory
   * of a group}, and brings what lies beside the device there to compute with it; a rule of your
   * own does not unless it says so.
   */
  default boolean canOffload() {
    return false;
  }

  /**
   * Tells whether the rule applies the {@linkplain ParameterGroup#lr rate} and betas of each group;
   * one that does not is given groups that differ in their decay alone.
   */
  default boolean takesGroupRates() {
    return false;
  }

  /** Tells whether the rule has two decay rates that groups may set. */
  default boolean hasBetas() {
    return false;
  }

  /** Allocates the rule's memory for these groups. */
  Bound bind(List<ParameterGroup> groups);

  /**
   * Allocates the rule's memory for groups of which each rank holds slices. A rule that looks at
   * each element alone need not know of the others.
   */
  default Bound bind(List<ParameterGroup> groups, SumOverRanks ranks) {
    return bind(groups);
  }

  /** An optimizer bound to parameters; owns its state and frees it when closed. */
  interface Bound extends AutoCloseable {

    /** Updates all parameters from their gradients. */
    void update(double lr);

    /**
     * Tells whether the rule can leave an update out by what a number on the device says; a rule of
     * your own cannot unless it says so.
     */
    default boolean skipsOnDevice() {
      return false;
    }

    /**
     * Updates all parameters from their gradients, or leaves everything as it is if a number on the
     * device is 1 and not 0; does not wait for it.
     *
     * @param found a float32 number
     */
    default void updateUnless(Tensor found, double lr) {
      throw new UnsupportedOperationException("this rule does not skip on the device");
    }

    /**
     * Puts down, or takes up, everything that the rule remembers between updates.
     *
     * @throws UnsupportedOperationException if it cannot, with the reason
     */
    void remember(State state);

    @Override
    void close();
  }
}
