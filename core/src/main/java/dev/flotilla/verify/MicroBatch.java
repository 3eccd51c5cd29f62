package dev.flotilla.verify;

import java.util.Arrays;

/** Samples that go through the model together, with their place in the run that is verified. */
public final class MicroBatch {

  private final int index;
  private final int epoch;
  private final boolean lastOfEpoch;
  private final int window;
  private final int[] samples;

  MicroBatch(int index, int epoch, boolean lastOfEpoch, int window, int[] samples) {
    this.index = index;
    this.epoch = epoch;
    this.lastOfEpoch = lastOfEpoch;
    this.window = window;
    this.samples = samples;
  }

  /** Returns its number in the run, from 0. */
  public int index() {
    return index;
  }

  /** Returns the number of its epoch, from 0. */
  public int epoch() {
    return epoch;
  }

  /** Tells whether the epoch ends with it. */
  public boolean isLastOfEpoch() {
    return lastOfEpoch;
  }

  /** Returns the number of the large batch that it is a part of, from 0. */
  public int window() {
    return window;
  }

  /** Returns a copy of its sample numbers. */
  public int[] samples() {
    return samples.clone();
  }

  int size() {
    return samples.length;
  }

  static int[] samplesOf(Iterable<MicroBatch> parts) {
    int[] all = {};
    for (var part : parts) {
      int end = all.length;
      all = Arrays.copyOf(all, end + part.samples.length);
      System.arraycopy(part.samples, 0, all, end, part.samples.length);
    }
    return all;
  }
}
