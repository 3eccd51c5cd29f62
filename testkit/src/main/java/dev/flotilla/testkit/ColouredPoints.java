package dev.flotilla.testkit;

import dev.flotilla.data.Batch;
import dev.flotilla.data.Dataset;
import dev.flotilla.memory.NativeView;
import dev.flotilla.memory.Tensors;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.SplittableRandom;
import org.bytedeco.pytorch.global.torch;

/**
 * A small classification task made on the spot: random points, coloured by their largest
 * coordinate.
 *
 * @param size number of points
 * @param features coordinates of a point
 * @param classes number of colours, at most as many as coordinates
 */
public record ColouredPoints(int size, int features, int classes) implements Dataset {

  @Override
  public Batch load(int[] samples) {
    var inputs = Tensors.empty(torch.ScalarType.Float, samples.length, features);
    var targets = Tensors.empty(torch.ScalarType.Long, samples.length);
    var points = NativeView.of(inputs);
    var colours = NativeView.of(targets);
    for (int i = 0; i < samples.length; i++) {
      float[] point = point(samples[i]);
      for (int j = 0; j < features; j++) {
        points.setAtIndex(ValueLayout.JAVA_FLOAT, (long) i * features + j, point[j]);
      }
      colours.setAtIndex(ValueLayout.JAVA_LONG, i, colour(point));
    }
    return new Batch(List.of(inputs), targets, samples.length);
  }

  private float[] point(int sample) {
    var random = new SplittableRandom(sample);
    var point = new float[features];
    for (int j = 0; j < features; j++) {
      point[j] = (float) random.nextGaussian();
    }
    return point;
  }

  private long colour(float[] point) {
    int largest = 0;
    for (int j = 1; j < classes; j++) {
      largest = point[j] > point[largest] ? j : largest;
    }
    return largest;
  }
}
