package dev.flotilla.zoo.data;

import dev.flotilla.data.Batch;
import dev.flotilla.data.Dataset;
import dev.flotilla.memory.NativeView;
import dev.flotilla.memory.Tensors;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import org.bytedeco.pytorch.global.torch;

/** Noise as images: pieces of one long row of random numbers, so that a batch is a copy. */
final class NoiseDataset implements Dataset {

  private static final int NOISE = 1 << 18;
  private static final double WIDTH = 2 * Math.sqrt(3);

  private final SyntheticImages shape;
  private final int size;
  private final int first;
  private final float[] noise = new float[NOISE];

  NoiseDataset(SyntheticImages shape, int size, int first) {
    this.shape = shape;
    this.size = size;
    this.first = first;
    var random = new SampleRandom(0, 0, 0);
    for (int i = 0; i < NOISE; i++) {
      noise[i] = (float) ((random.unit() - 0.5) * WIDTH);
    }
  }

  @Override
  public int size() {
    return size;
  }

  @Override
  public Batch load(int[] samples) {
    var images =
        Tensors.empty(
            torch.ScalarType.Float, samples.length, shape.channels(), shape.side(), shape.side());
    var target = NativeView.of(images);
    long length = images.numel() / samples.length;
    var labels = new long[samples.length];
    for (int i = 0; i < samples.length; i++) {
      int number = first + samples[i];
      labels[i] = number % shape.classes();
      write(target, i * length, length, new SampleRandom(1, 0, number).below(NOISE));
    }
    return new Batch(List.of(images), Tensors.ofLongs(labels), samples.length);
  }

  private void write(MemorySegment target, long at, long length, int from) {
    int start = from;
    for (long written = 0; written < length; ) {
      int count = (int) Math.min(length - written, NOISE - start);
      long offset = (at + written) * Float.BYTES;
      MemorySegment.copy(noise, start, target, ValueLayout.JAVA_FLOAT, offset, count);
      written += count;
      start = 0;
    }
  }
}
