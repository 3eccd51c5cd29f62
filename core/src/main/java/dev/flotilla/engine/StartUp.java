package dev.flotilla.engine;

import dev.flotilla.collective.Collective;
import dev.flotilla.collective.Traffic;

/** Gives all ranks the parameters and buffers of rank 0. */
public final class StartUp {

  private StartUp() {}

  /** Broadcasts everything a model holds; the layouts have been agreed on before. */
  public static void broadcast(Collective collective, BoundModel model) {
    if (collective.size() == 1) {
      return;
    }
    collective.broadcast(model.arena().values(), 0, Traffic.START).await();
    for (var frozen : model.frozen().values()) {
      collective.broadcast(frozen, 0, Traffic.START).await();
    }
    for (var buffer : model.buffers().buffers().values()) {
      collective.broadcast(buffer, 0, Traffic.START).await();
    }
  }
}
