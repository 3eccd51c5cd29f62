package dev.flotilla.booster;

import dev.flotilla.strategy.Strategy;
import dev.flotilla.world.World;
import java.util.List;
import java.util.Optional;

/**
 * How ranks share the work and the memory of a boosted model: a choice of techniques under one
 * name.
 *
 * <p>There are {@link DataParallel}, {@link LowLevelZero} and {@link Chunked}; a plugin of your own
 * lists techniques of its own.
 */
public interface Plugin {

  /** Returns the techniques for a place in a world; what they cannot do, their plan says. */
  List<Strategy> techniques(World world);

  /**
   * Returns why micro-steps cannot do without communication, and what to do instead; empty where
   * they can.
   */
  default Optional<String> refusalOfNoSync() {
    return Optional.empty();
  }
}
