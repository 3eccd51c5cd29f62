package dev.flotilla.engine;

import dev.flotilla.state.RunState;

/** What ranks do together after an update, such as averaging parameters now and then. */
@FunctionalInterface
public interface Sync {

  /** Nothing. */
  Sync NONE = _ -> {};

  /** Called by all ranks after every window, also one whose update was skipped. */
  void afterWindow(MicroStep boundary);

  /** Puts down, or takes up, what it remembers from one window to the next; nothing by default. */
  default void remember(RunState state) {}
}
