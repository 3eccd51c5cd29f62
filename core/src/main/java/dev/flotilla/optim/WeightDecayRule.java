package dev.flotilla.optim;

/** A rule that decays weights alone, and neither biases nor norms unless a name pattern says so. */
public interface WeightDecayRule extends GroupRule {

  @Override
  default boolean decaysBiasesAndNorms() {
    return false;
  }
}
