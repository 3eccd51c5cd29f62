package dev.flotilla.exchange;

import dev.flotilla.collective.Pending;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/**
 * One of the steps that reduce a bucket: a collective with the computing that comes before it, or
 * computing alone, such as the decoding of what has arrived. It starts when the stage before it has
 * arrived, unless it is independent, on the thread of the exchange.
 */
@FunctionalInterface
public interface Stage {

  /**
   * Starts the step.
   *
   * @return what is awaited on another thread while other buckets go on, or {@link Pending#DONE}
   *     without a collective. Awaiting it starts no collectives, as ranks would come to them in
   *     different orders
   */
  Pending start();

  /**
   * Tells whether it needs nothing of the stages before it in its bucket's list, so that it may
   * start while they are under way.
   */
  default boolean isIndependent() {
    return false;
  }

  /**
   * Returns stages of a bucket that is reduced in parts.
   *
   * @param parts for each part the steps that depend on each other
   */
  static List<Stage> ofParts(List<List<Supplier<Pending>>> parts) {
    List<Stage> stages = new ArrayList<>();
    for (var part : parts) {
      stages.add(first(part.getFirst()));
      part.subList(1, part.size()).forEach(step -> stages.add(step::get));
    }
    return stages;
  }

  private static Stage first(Supplier<Pending> step) {
    return new Stage() {
      @Override
      public Pending start() {
        return step.get();
      }

      @Override
      public boolean isIndependent() {
        return true;
      }
    };
  }
}
