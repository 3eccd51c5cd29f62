package dev.flotilla.app.advise;

/**
 * What is on its way between ranks.
 *
 * @param seconds that it takes while ranks wait for it
 * @param busy seconds that it takes while they compute
 * @param work seconds of computing that they lose by then
 */
record Wire(double seconds, double busy, double work) {

  /**
   * Returns what bytes take. Computing loses half of the time at most: the rest of it, a message
   * waits for the network or for a core.
   *
   * @param wait seconds of messages that wait for each other
   */
  static Wire of(LinkRate link, double bytes, double wait) {
    double busy = wait + link.secondsPerByteBusy() * bytes;
    return new Wire(wait + link.wire(bytes), busy, Math.min(busy / 2, link.busy().work() * bytes));
  }

  /** Returns a part of it, or several of it. */
  Wire times(double factor) {
    return new Wire(factor * seconds, factor * busy, factor * work);
  }

  /** Returns what travels in its first seconds. */
  Wire first(double passed) {
    return seconds <= passed ? this : times(passed / seconds);
  }

  /** Returns what is left of it when some seconds of it have passed. */
  Wire without(double passed) {
    return seconds <= passed ? times(0) : times(1 - passed / seconds);
  }

  /** Returns the seconds of computing that are done by the time it has arrived. */
  double computed() {
    return busy - work;
  }

  /**
   * Returns by how many seconds it makes an update longer that computes meanwhile.
   *
   * @param exposed seconds of it that nothing is computed behind, as the last bucket of a backward
   * @param computing seconds of the update, alone, that the rest can travel behind
   */
  double shown(double exposed, double computing) {
    var rest = without(exposed);
    return Math.min(exposed, seconds) + rest.shown(computing);
  }

  /** While it travels, computing loses the work; for what does not fit behind it, ranks wait. */
  private double shown(double computing) {
    double hidden = computed() <= computing ? 1 : computing / computed();
    return hidden * work + (1 - hidden) * seconds;
  }
}
