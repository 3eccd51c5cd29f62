package dev.flotilla.metric;

/** A tally whose state is sums, which add up over batches and ranks. */
abstract class Sums implements Tally {

  private double[] sums = new double[0];

  /** Adds sums of a batch; always equally many. */
  final void add(double... more) {
    if (sums.length == 0) {
      sums = more.clone();
      return;
    }
    if (more.length != sums.length) {
      throw new IllegalArgumentException(
          "%d sums were added before, and now %d: has the number of classes changed?"
              .formatted(sums.length, more.length));
    }
    for (int i = 0; i < sums.length; i++) {
      sums[i] += more[i];
    }
  }

  /** Returns a sum; 0 where nothing was added. */
  final double sum(int index) {
    return index < sums.length ? sums[index] : 0;
  }

  /** Returns how many sums there are; 0 where nothing was added. */
  final int length() {
    return sums.length;
  }

  @Override
  public final double[] state() {
    return sums.clone();
  }

  @Override
  public final void merge(double[] state) {
    add(state);
  }
}
