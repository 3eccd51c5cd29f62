package dev.flotilla.testkit;

import dev.flotilla.data.Batch;
import dev.flotilla.data.Dataset;
import dev.flotilla.memory.NativeView;
import java.lang.foreign.ValueLayout;
import java.util.Set;

/**
 * Points of which some hold a number that is none, or overflows.
 *
 * @param points what they are otherwise
 * @param samples the numbers of those that hold it
 * @param poison the number
 */
public record PoisonedPoints(ColouredPoints points, Set<Integer> samples, float poison)
    implements Dataset {

  @Override
  public int size() {
    return points.size();
  }

  @Override
  public Batch load(int[] wanted) {
    var batch = points.load(wanted);
    for (int i = 0; i < wanted.length; i++) {
      if (samples.contains(wanted[i])) {
        NativeView.of(batch.inputs().getFirst())
            .setAtIndex(ValueLayout.JAVA_FLOAT, (long) i * points.features(), poison);
      }
    }
    return batch;
  }
}
