package dev.flotilla.optim;

/** A rule that keeps what it remembers in the memory of its groups, and applies their rates. */
public interface GroupRule extends Optimizer {

  @Override
  default boolean canOffload() {
    return true;
  }

  @Override
  default boolean takesGroupRates() {
    return true;
  }
}
