package dev.flotilla.config;

/** Adds up what a rank of several would send, by the formulas of the algorithms in use. */
final class PretendedTraffic {

  private final int ranks;
  private StepTrial.Sent sent = StepTrial.Sent.NOTHING;
  private int sliceWidth;

  PretendedTraffic(int ranks) {
    this.ranks = ranks;
  }

  /** A ring passes all but an n-th on twice, in 2 (n − 1) messages one after the other. */
  void allReduce(long bytes) {
    add(new StepTrial.Sent(2.0 * (ranks - 1) * bytes / ranks, 0, 0, 2.0 * (ranks - 1)));
  }

  void allGather(long partBytes) {
    add(new StepTrial.Sent(0, (ranks - 1.0) * partBytes, 0, 1));
  }

  /** Gathers slices of parameters, which may have 16 bits. */
  void allGatherSlices(long partBytes, int elementBytes) {
    allGather(partBytes);
    noteWidth(elementBytes);
  }

  void reduceScatter(long otherBytes) {
    add(new StepTrial.Sent(0, 0, otherBytes, 1));
  }

  void allToAll(long bytes) {
    add(new StepTrial.Sent((ranks - 1.0) * bytes / ranks, 0, 0, 1));
  }

  /** Buckets are sent by a thread of their own. */
  private synchronized void add(StepTrial.Sent more) {
    sent = sent.plus(more);
  }

  private synchronized void noteWidth(int elementBytes) {
    sliceWidth = elementBytes;
  }

  /** Returns the bytes of a parameter's element that is gathered, or 0 if none was. */
  synchronized int sliceWidth() {
    return sliceWidth;
  }

  synchronized StepTrial.Sent sent() {
    return sent;
  }
}
