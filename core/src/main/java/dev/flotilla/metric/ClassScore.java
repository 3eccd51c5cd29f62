package dev.flotilla.metric;

import dev.flotilla.model.Task;

/** A metric of a classification that is a value of each class, averaged. */
public interface ClassScore extends Metric {

  /** Returns how the values of classes become one. */
  Average average();

  /** Returns the name for one kind of average: the mean over classes is the usual one. */
  default String named(String name) {
    return switch (average()) {
      case MACRO -> name;
      case MICRO -> name + "_micro";
    };
  }

  @Override
  default boolean suits(Task task) {
    return task != Task.REGRESSION;
  }
}
