package dev.flotilla.strategy.merge;

import dev.flotilla.data.Batch;
import dev.flotilla.data.Dataset;
import dev.flotilla.memory.NativeView;
import dev.flotilla.memory.Tensors;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.SplittableRandom;
import org.bytedeco.pytorch.global.torch;

/** Sequences of 1 to 7 tokens, padded to 7; the targets of padding are masked. */
record RaggedSequences(int size) implements Dataset {

  static final int LONGEST = 7;
  static final int FEATURES = 5;
  static final int CLASSES = 3;
  static final long MASKED = -100;

  @Override
  public Batch load(int[] samples) {
    var inputs = Tensors.zeros(torch.ScalarType.Float, samples.length, LONGEST, FEATURES);
    var targets = Tensors.empty(torch.ScalarType.Long, samples.length, LONGEST);
    var tokens = NativeView.of(inputs);
    var classes = NativeView.of(targets);
    for (int i = 0; i < samples.length; i++) {
      var random = new SplittableRandom(samples[i]);
      int length = 1 + random.nextInt(LONGEST);
      for (int t = 0; t < LONGEST; t++) {
        long at = (long) i * LONGEST + t;
        classes.setAtIndex(
            ValueLayout.JAVA_LONG, at, t < length ? random.nextInt(CLASSES) : MASKED);
        for (int f = 0; f < FEATURES; f++) {
          float value = (float) random.nextGaussian();
          tokens.setAtIndex(ValueLayout.JAVA_FLOAT, at * FEATURES + f, value);
        }
      }
    }
    return new Batch(List.of(inputs), targets, samples.length);
  }
}
