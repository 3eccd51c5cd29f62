package dev.flotilla.strategy.compress;

/**
 * What an all-reduce takes between these ranks: a + c · bytes.
 *
 * @param latency a, in seconds
 * @param secondsPerByte c, for a byte of the tensor
 */
record Link(double latency, double secondsPerByte) {

  /** Fits the times of a small all-reduce and a large one. */
  static Link fitted(double smallBytes, double small, double largeBytes, double large) {
    double perByte = Math.max(1e-10, (large - small) / (largeBytes - smallBytes));
    return new Link(Math.max(1e-6, small - perByte * smallBytes), perByte);
  }

  double allReduce(double bytes) {
    return latency + secondsPerByte * bytes;
  }

  /** A ring passes each byte of a tensor on 2 (n − 1) / n times. */
  double secondsPerByteSent(int ranks) {
    return secondsPerByte * ranks / (2.0 * (ranks - 1));
  }
}
