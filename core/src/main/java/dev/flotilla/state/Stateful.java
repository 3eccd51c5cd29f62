package dev.flotilla.state;

/**
 * Something that remembers. A run that was stopped comes back bit for bit only if all of these do.
 */
@FunctionalInterface
public interface Stateful {

  /**
   * Puts down, or takes up, everything that it remembers.
   *
   * <p>The same lines do both, so that neither can forget what the other does: {@code updates =
   * state.shared().number("updates", updates)} saves the number and returns it, or returns the one
   * that was saved.
   */
  void remember(RunState state);
}
