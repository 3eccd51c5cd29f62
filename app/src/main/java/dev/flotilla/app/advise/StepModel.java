package dev.flotilla.app.advise;

import dev.flotilla.config.StepTrial;

/**
 * Predicts how long an update takes over a link, from what it takes without one.
 *
 * <p>With T the update of a rank alone, B its last backward, r the part of B before the first
 * bucket is full, b buckets and F = T − B, and W the time of bytes on the wire:
 *
 * <pre>
 * no overlap         T + W
 * behind backward    T + max(W / b, r + W − B)
 * behind both        T + max(Ws / b, r + Ws − B) + max(Wg / b, W0, Wg − F)
 * gathered           T + max(Wf / b, W0, Wf − F) + max(Ws / b, max(r, Wg − Wf) + Ws − B)
 * </pre>
 *
 * <p>Ws are the bytes of sums that are scattered and Wg those of parameters that are gathered, of
 * which the first segment waits for W0, with nothing to compute meanwhile; Wf, those for forward,
 * is W0 or half of Wg, whichever is more. Each message that others wait for adds the latency. With
 * k micro-steps, what is exchanged in each of them is hidden in each of them.
 */
public final class StepModel {

  /** Where backward was not watched: it costs about twice as much as forward. */
  private static final double BACKWARD_SHARE = 2.0 / 3;

  private static final double FIRST_BUCKET_SHARE = 0.25;

  private StepModel() {}

  /**
   * Returns the seconds of an update.
   *
   * @param trial what it took on a rank alone
   */
  public static double seconds(StepTrial.Result trial, LinkRate link, Overlap overlap) {
    var sent = trial.sent();
    double wait = link.latency() * sent.messages();
    double reduced = link.wire(sent.reduced());
    double gathered = link.wire(sent.gathered());
    double scattered = link.wire(sent.scattered());
    double ahead = link.wire(sent.ahead());
    double alone = trial.seconds();
    int k = trial.microSteps();
    double micro = alone / k;
    double backward = trial.backward() > 0 ? trial.backward() : BACKWARD_SHARE * micro;
    double first = trial.backward() > 0 ? trial.firstBucket() : FIRST_BUCKET_SHARE * backward;
    double forward = Math.max(0, micro - backward);
    int b = trial.buckets();
    double work = link.work() * (sent.reduced() + sent.gathered() + sent.scattered());
    return switch (overlap) {
      case NONE -> alone + reduced + gathered + scattered + wait;
      case BACKWARD -> {
        double wire = reduced + gathered + scattered + wait;
        yield alone + Math.max(work + wire / b, hidden(wire, b, first, backward));
      }
      case BOTH -> {
        double sums = reduced + scattered + wait / 2;
        double parameters = gathered + wait / 2;
        yield alone
            + Math.max(
                work + (sums + parameters) / b,
                hidden(sums, b, first, backward)
                    + Math.max(ahead, hidden(parameters, b, 0, forward)));
      }
      case GATHERED -> {
        double half = (gathered + wait / 2) / k / 2;
        double sums = (reduced + scattered + wait / 2) / k;
        double front = Math.max(half, ahead);
        double back = 2 * half - front;
        // Sums leave when the first bucket is full, and the wire is free of what was gathered.
        double visible =
            Math.max(ahead, hidden(front, b, 0, forward))
                + hidden(sums, b, Math.max(first, back), backward);
        yield alone + Math.max(work + k * (half + sums) / b, k * visible);
      }
    };
  }

  /** Returns what is left of some seconds of wire behind computing that begins earlier. */
  private static double hidden(double wire, int buckets, double first, double computing) {
    return Math.max(wire / buckets, first + wire - computing);
  }
}
