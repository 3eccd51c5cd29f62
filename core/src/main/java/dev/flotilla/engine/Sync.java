package dev.flotilla.engine;

/** What ranks do together after an update, such as averaging parameters now and then. */
@FunctionalInterface
public interface Sync {

  /** Nothing. */
  Sync NONE = _ -> {};

  /** Called by all ranks after every window, also one whose update was skipped. */
  void afterWindow(MicroStep boundary);
}
