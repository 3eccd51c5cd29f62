package dev.flotilla.strategy.recompute;

import dev.flotilla.model.Shape;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Plans by the shapes they were made for; one also serves whatever is smaller along every axis. */
final class PlansByShape {

  private record Planned(List<Shape> shapes, RecomputePlan plan) {

    boolean covers(List<Shape> others) {
      boolean covers = shapes.size() == others.size();
      for (int i = 0; covers && i < shapes.size(); i++) {
        covers = covers(shapes.get(i).dimensions(), others.get(i).dimensions());
      }
      return covers;
    }

    private static boolean covers(List<Long> extents, List<Long> others) {
      boolean covers = extents.size() == others.size();
      for (int i = 0; covers && i < extents.size(); i++) {
        covers = extents.get(i) >= others.get(i);
      }
      return covers;
    }
  }

  private final List<Planned> all = new ArrayList<>();

  /** Returns a plan that serves inputs of these shapes. */
  Optional<RecomputePlan> covering(List<Shape> shapes) {
    return all.stream().filter(it -> it.covers(shapes)).map(Planned::plan).findFirst();
  }

  /** Adds a plan, in place of those for smaller inputs. */
  void add(List<Shape> shapes, RecomputePlan plan) {
    var added = new Planned(shapes, plan);
    all.removeIf(it -> added.covers(it.shapes()));
    all.add(added);
  }
}
