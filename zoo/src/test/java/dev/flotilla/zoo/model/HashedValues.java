package dev.flotilla.zoo.model;

import dev.flotilla.memory.NativeView;
import java.lang.foreign.ValueLayout;
import java.util.Map;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;

/**
 * Weights and inputs that Python's {@code references.py} makes as well: no random numbers, but a
 * hash of name and index.
 */
final class HashedValues {

  private static final long TRACKED_BATCHES = 7;

  private HashedValues() {}

  /** Returns a number in [-0.5, 0.5) that float32 holds exactly. */
  static double uniform(String name, long index) {
    return (splitMix(fnv1a(name) + index) >>> 40) / 0x1p24 - 0.5;
  }

  /** Returns a whole number in [0, bound). */
  static int whole(String name, long index, int bound) {
    return (int) ((uniform(name, index) + 0.5) * bound);
  }

  private static long fnv1a(String name) {
    long hash = 0xcbf29ce484222325L;
    for (int i = 0; i < name.length(); i++) {
      hash = (hash ^ name.charAt(i)) * 0x100000001b3L;
    }
    return hash;
  }

  private static long splitMix(long state) {
    long z = state + 0x9e3779b97f4a7c15L;
    z = (z ^ (z >>> 30)) * 0xbf58476d1ce4e5b9L;
    z = (z ^ (z >>> 27)) * 0x94d049bb133111ebL;
    return z ^ (z >>> 31);
  }

  /** Overwrites all parameters and buffers of a model. */
  static void fill(Map<String, Tensor> state) {
    state.forEach(HashedValues::fill);
  }

  private static void fill(String name, Tensor tensor) {
    try (var place = tensor.detach()) {
      var memory = NativeView.of(place);
      boolean isWhole = place.scalar_type().intern() == torch.ScalarType.Long;
      boolean isDouble = place.scalar_type().intern() == torch.ScalarType.Double;
      double width = width(name, place.shape());
      double centre = centre(name, place.shape());
      long hash = fnv1a(name);
      long elements = place.numel();
      for (long i = 0; i < elements; i++) {
        if (isWhole) {
          memory.setAtIndex(ValueLayout.JAVA_LONG, i, TRACKED_BATCHES);
          continue;
        }
        float value = (float) (((splitMix(hash + i) >>> 40) / 0x1p24 - 0.5) * width + centre);
        if (isDouble) {
          memory.setAtIndex(ValueLayout.JAVA_DOUBLE, i, value);
        } else {
          memory.setAtIndex(ValueLayout.JAVA_FLOAT, i, value);
        }
      }
    }
  }

  private static double centre(String name, long[] shape) {
    boolean isScale = shape.length == 1 && name.endsWith("weight");
    return isScale || name.endsWith("running_var") ? 1 : 0;
  }

  private static double width(String name, long[] shape) {
    if (shape.length <= 1) {
      return name.endsWith("weight") || name.endsWith("running_var") ? 0.5 : 0.2;
    }
    if (name.contains("embeddings")) {
      return 1;
    }
    long fanIn = 1;
    for (int i = 1; i < shape.length; i++) {
      fanIn *= shape[i];
    }
    return (float) (2 * Math.sqrt(3.0 / fanIn));
  }
}
